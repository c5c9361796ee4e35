// What a user does with the Go client that openapi-generator made of the document. It stands in a folder of the generated module; docs/develop/tests.md
// has the commands. Arguments: the service's address, a key, a website that answers, an address where nothing listens, a list of share links, a share link.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	sonde "github.com/GIT_USER_ID/GIT_REPO_ID"
)

const project = "prj_1"

// A first check, or an incident after it, on a busy machine.
const within = 90 * time.Second

// Only the page's cookie reads these; a key is refused.
var ofSessions = map[string]bool{"GetSession": true, "ListSessions": true, "ListPasskeys": true}

// The answer of a call that must be understood.
func done[T any](answer T, _ *http.Response, err error) T {
	if err != nil {
		fail(err)
	}
	return answer
}

func fail(err error) {
	if refusal, is := err.(*sonde.GenericOpenAPIError); is {
		fmt.Fprintln(os.Stderr, string(refusal.Body()))
	}
	panic(err)
}

func expect(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func main() {
	url, key, website, nothing, list, link := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]
	settings := sonde.NewConfiguration()
	settings.Servers = sonde.ServerConfigurations{{URL: url}}
	settings.AddDefaultHeader("X-API-Key", key)
	client := sonde.NewAPIClient(settings)
	ctx := context.Background()

	create := func(body sonde.CreateMonitor) *sonde.Monitor {
		return done(client.MonitorsAPI.CreateMonitor(ctx).XProjectId(project).CreateMonitor(body).Execute())
	}
	up := create(sonde.CreateMonitor{CreateHttp: sonde.NewCreateHttp("http", "Up", website)})
	broken := sonde.NewCreateHttp("http", "Down", nothing)
	broken.SetMaxretries(1)
	down := create(sonde.CreateMonitor{CreateHttp: broken})
	push := create(sonde.CreateMonitor{CreatePush: sonde.NewCreatePush("push", "Job", 60)})
	expect(push.GetHeartbeatUrl() != "", "a heartbeat without an address")
	vpn := sonde.NewCreateVpn("Tunnel")
	vpn.SetUrl(link)
	vpn.SetActive(false)
	expect(create(sonde.CreateMonitor{CreateVpn: vpn}).Status == "paused", "a tunnel that is not paused")

	await(client, up.Id, "healthy")
	await(client, down.Id, "down")
	changes := sonde.NewUpdateMonitor()
	changes.SetName("Up and running")
	changed := done(client.MonitorsAPI.UpdateMonitor(ctx, up.Id).XProjectId(project).UpdateMonitor(*changes).Execute())
	expect(changed.Name == "Up and running", "the name was not changed")
	subscription := done(client.SubscriptionsAPI.CreateSubscription(ctx).XProjectId(project).
		CreateSubscription(*sonde.NewCreateSubscription(list)).Execute())
	done(client.KeysAPI.CreateKey(ctx).CreateKey(*sonde.NewCreateKey("ci")).Execute())
	incident := done(client.IncidentsAPI.ListIncidents(ctx).XProjectId(project).Execute()).Incidents[0]
	done(client.IncidentsAPI.AcknowledgeIncident(ctx, incident.Id).XProjectId(project).
		AcknowledgeIncident(*sonde.NewAcknowledgeIncident()).Execute())

	var plan sonde.PlanMaintenance
	backups := `{"title":"Backups","select":{"all":true},"schedule":{"type":"cron","cron":"0 2 * * *","minutes":30}}`
	expect(json.Unmarshal([]byte(backups), &plan) == nil, "a schedule does not fit")
	planned := done(client.MaintenanceAPI.CreateMaintenance(ctx).XProjectId(project).PlanMaintenance(plan).Execute())
	expect(planned.MaintenanceSchedule != nil, "no schedule was made")
	page := done(client.StatusPagesAPI.CreateStatusPage(ctx).XProjectId(project).
		CreateStatusPage(*sonde.NewCreateStatusPage("acme", "Acme")).Execute())

	hook := done(client.WebhooksAPI.CreateWebhook(ctx).XProjectId(project).CreateWebhook(*sonde.NewCreateWebhook(website)).Execute())
	expect(strings.HasPrefix(hook.Secret, "whsec_"), "no secret")

	read := readAll(client, map[string]string{
		"": up.Id, "Incident": incident.Id, "Subscription": fmt.Sprint(subscription.Id), "Organization": "1", "KeyUsage": "1",
		"Schedule": planned.MaintenanceSchedule.Id, "StatusPage": page.Id, "Webhook": fmt.Sprint(hook.Id),
	})
	expect(read > 20, "few operations were read")

	_, response, err := client.MonitorsAPI.GetMonitor(ctx, "srv_999999").XProjectId(project).Execute()
	refusal, is := err.(*sonde.GenericOpenAPIError)
	expect(is && response.StatusCode == 404 && strings.Contains(string(refusal.Body()), "Server not found"), "no words")

	// What a later version adds is taken: fields, and words of lists.
	text, _ := json.Marshal(up)
	var later sonde.Monitor
	added := strings.Replace(string(text), `"status":"unknown"`, `"status":"asleep","added":{"in":"version 1.9"}`, 1)
	expect(json.Unmarshal([]byte(added), &later) == nil && later.Status == "asleep", "a new word does not fit")
	expect(done(client.MonitorsAPI.DeleteMonitor(ctx, down.Id).XProjectId(project).Execute()).Success, "not deleted")
	fmt.Println(read, "operations were read, every call was understood")
}

func await(client *sonde.APIClient, id string, status string) {
	for late := time.Now().Add(within); time.Now().Before(late); time.Sleep(100 * time.Millisecond) {
		if done(client.MonitorsAPI.GetMonitor(context.Background(), id).XProjectId(project).Execute()).Status == status {
			return
		}
	}
	panic(id + " does not become " + status)
}

// Calls every operation that reads. Ids are by a word in the operation's name.
func readAll(client *sonde.APIClient, ids map[string]string) int {
	reads := regexp.MustCompile(`^(Get|List|Search|Whoami)`)
	count := 0
	services := reflect.ValueOf(client).Elem()
	for i := 0; i < services.NumField(); i++ {
		if !services.Type().Field(i).IsExported() {
			continue
		}
		service := services.Field(i)
		for k := 0; k < service.NumMethod(); k++ {
			name := service.Type().Method(k).Name
			if !reads.MatchString(name) || strings.HasSuffix(name, "Execute") || ofSessions[name] {
				continue
			}
			results := withParameters(service.Method(k), idFor(name, ids), ids[""]).MethodByName("Execute").Call(nil)
			if err, is := results[len(results)-1].Interface().(error); is {
				fmt.Fprintln(os.Stderr, name)
				fail(err)
			}
			count++
		}
	}
	return count
}

func idFor(operation string, ids map[string]string) string {
	for word, id := range ids {
		if word != "" && strings.Contains(operation, word) {
			return id
		}
	}
	return ids[""]
}

// The request with the parameters that it takes.
func withParameters(operation reflect.Value, id string, monitor string) reflect.Value {
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	for len(arguments) < operation.Type().NumIn() {
		arguments = append(arguments, reflect.ValueOf(id))
	}
	request := operation.Call(arguments)[0]
	for name, value := range map[string]string{"XProjectId": project, "Q": "Up", "Explain": "1", "Ids": monitor} {
		if set := request.MethodByName(name); set.IsValid() && set.Type().In(0).Kind() == reflect.String {
			request = set.Call([]reflect.Value{reflect.ValueOf(value)})[0]
		}
	}
	return request
}
