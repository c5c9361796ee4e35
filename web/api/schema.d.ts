// Made by `npm run web:types` of the API's document fbe46e7b5c3416bc. Do not edit.
export interface paths {
    "/servers": {
        get: operations["listMonitors"];
        post: operations["createMonitor"];
    };
    "/servers/{id}": {
        get: operations["getMonitor"];
        put: operations["updateMonitor"];
        delete: operations["deleteMonitor"];
    };
    "/servers/{id}/history": {
        get: operations["listMonitorHistory"];
    };
    "/servers/bulk": {
        post: operations["changeMonitors"];
    };
    "/servers/{id}/locations": {
        get: operations["getMonitorLocations"];
        put: operations["updateMonitorLocations"];
    };
    "/apply": {
        post: operations["applyDocument"];
    };
    "/servers/search": {
        get: operations["searchMonitors"];
    };
    "/overview": {
        get: operations["getOverview"];
    };
    "/tags": {
        get: operations["listTags"];
    };
    "/views": {
        get: operations["listViews"];
        post: operations["saveView"];
    };
    "/views/{id}": {
        delete: operations["removeView"];
    };
    "/live": {
        get: operations["followProject"];
    };
    "/results": {
        get: operations["listResults"];
    };
    "/results/failures": {
        get: operations["listFailures"];
    };
    "/results/recent": {
        get: operations["listRecentResults"];
    };
    "/results/server/{id}": {
        get: operations["listMonitorResults"];
    };
    "/servers/{id}/days": {
        get: operations["getMonitorDays"];
    };
    "/days": {
        get: operations["listDays"];
    };
    "/servers/{id}/latency": {
        get: operations["getMonitorLatency"];
    };
    "/incidents": {
        get: operations["listIncidents"];
    };
    "/incidents/acknowledge": {
        post: operations["acknowledgeIncidents"];
    };
    "/incidents/{id}": {
        get: operations["getIncident"];
    };
    "/incidents/{id}/events": {
        get: operations["listIncidentEvents"];
    };
    "/incidents/{id}/acknowledge": {
        post: operations["acknowledgeIncident"];
    };
    "/incidents/{id}/notes": {
        post: operations["addIncidentNote"];
    };
    "/incidents/{id}/notes/{note}": {
        put: operations["changeIncidentNote"];
        delete: operations["deleteIncidentNote"];
    };
    "/incidents/{id}/report": {
        put: operations["writeIncidentReport"];
    };
    "/maintenances": {
        get: operations["listMaintenance"];
        post: operations["createMaintenance"];
    };
    "/maintenances/{id}/end": {
        post: operations["endMaintenance"];
    };
    "/channels": {
        get: operations["listChannels"];
        post: operations["createChannel"];
    };
    "/channels/kinds": {
        get: operations["listChannelKinds"];
    };
    "/channels/test": {
        post: operations["testUnsavedChannel"];
    };
    "/channels/{id}": {
        get: operations["getChannel"];
        put: operations["changeChannel"];
        delete: operations["deleteChannel"];
    };
    "/channels/{id}/test": {
        post: operations["testChannel"];
    };
    "/alert-rules": {
        get: operations["getAlertRules"];
        put: operations["setAlertRules"];
    };
    "/alert-rules/preview": {
        post: operations["previewAlertRules"];
    };
    "/quiet-hours": {
        get: operations["getQuietHours"];
        put: operations["setQuietHours"];
    };
    "/incidents/{id}/alerts": {
        get: operations["listIncidentAlerts"];
    };
    "/channels/{id}/deliveries": {
        get: operations["listChannelDeliveries"];
    };
    "/maintenances/{id}": {
        get: operations["getMaintenanceSchedule"];
        put: operations["updateMaintenanceSchedule"];
        delete: operations["deleteMaintenanceSchedule"];
    };
    "/status-pages": {
        get: operations["listStatusPages"];
        post: operations["createStatusPage"];
    };
    "/status-pages/{id}": {
        get: operations["getStatusPage"];
        put: operations["updateStatusPage"];
        delete: operations["deleteStatusPage"];
    };
    "/status-pages/{id}/updates": {
        get: operations["listStatusPageUpdates"];
        post: operations["addStatusPageUpdate"];
    };
    "/status-pages/{id}/updates/{update}": {
        put: operations["changeStatusPageUpdate"];
        delete: operations["deleteStatusPageUpdate"];
    };
    "/webhooks": {
        get: operations["listWebhooks"];
        post: operations["createWebhook"];
    };
    "/webhooks/{id}": {
        get: operations["getWebhook"];
        put: operations["updateWebhook"];
        delete: operations["deleteWebhook"];
    };
    "/webhooks/{id}/rotate": {
        post: operations["rotateWebhook"];
    };
    "/webhooks/{id}/test": {
        post: operations["testWebhook"];
    };
    "/webhooks/{id}/deliveries": {
        get: operations["listWebhookDeliveries"];
    };
    "/webhooks/{id}/enable": {
        post: operations["enableWebhook"];
    };
    "/webhooks/{id}/disable": {
        post: operations["disableWebhook"];
    };
    "/import/convert": {
        post: operations["convertImport"];
    };
    "/export": {
        get: operations["exportDocument"];
    };
    "/subscriptions": {
        get: operations["listSubscriptions"];
        post: operations["createSubscription"];
    };
    "/subscriptions/{id}": {
        get: operations["getSubscription"];
        put: operations["updateSubscription"];
        delete: operations["deleteSubscription"];
    };
    "/subscriptions/{id}/sync": {
        post: operations["syncSubscription"];
    };
    "/subscriptions/{id}/configs": {
        get: operations["listSubscriptionConfigs"];
    };
    "/subscriptions/{id}/links": {
        post: operations["revealLinks"];
    };
    "/test": {
        post: operations["testMonitor"];
    };
    "/test/batch": {
        post: operations["testMonitors"];
    };
    "/servers/{id}/check": {
        post: operations["checkMonitor"];
    };
    "/incidents/{id}/retest": {
        post: operations["retestIncident"];
    };
    "/check": {
        post: operations["checkConfig"];
    };
    "/check/public": {
        post: operations["checkConfigWithoutKey"];
    };
    "/check/bulk": {
        post: operations["checkMany"];
    };
    "/whoami": {
        get: operations["whoami"];
    };
    "/organizations": {
        get: operations["listOrganizations"];
    };
    "/organizations/{id}": {
        get: operations["getOrganization"];
    };
    "/projects": {
        get: operations["listProjects"];
    };
    "/keys/{id}/usage": {
        get: operations["getKeyUsage"];
    };
    "/usage": {
        get: operations["getUsage"];
    };
    "/keys": {
        get: operations["listKeys"];
        post: operations["createKey"];
    };
    "/keys/{id}": {
        delete: operations["revokeKey"];
    };
    "/audit": {
        get: operations["listAudit"];
    };
    "/members": {
        get: operations["listMembers"];
        post: operations["inviteMember"];
    };
    "/members/{id}": {
        put: operations["changeMember"];
        delete: operations["removeMember"];
    };
    "/session": {
        get: operations["getSession"];
        post: operations["signIn"];
        delete: operations["signOut"];
    };
    "/sessions": {
        get: operations["listSessions"];
        delete: operations["endOtherSessions"];
    };
    "/sessions/{id}": {
        delete: operations["endSession"];
    };
    "/sign-in": {
        get: operations["getSignInWays"];
    };
    "/session/oidc": {
        post: operations["beginProviderSignIn"];
    };
    "/session/passkey": {
        post: operations["challengePasskey"];
    };
    "/passkeys": {
        get: operations["listPasskeys"];
        post: operations["addPasskey"];
    };
    "/passkeys/challenge": {
        post: operations["challengeNewPasskey"];
    };
    "/passkeys/{id}": {
        put: operations["renamePasskey"];
        delete: operations["removePasskey"];
    };
    "/health": {
        get: operations["getHealth"];
    };
    "/health/deep": {
        get: operations["getDeepHealth"];
    };
    "/regions": {
        get: operations["listRegions"];
    };
    "/service": {
        get: operations["getService"];
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        CreateMonitor: components["schemas"]["CreateHttp"] | components["schemas"]["CreateKeyword"] | components["schemas"]["CreatePing"] | components["schemas"]["CreatePort"] | components["schemas"]["CreateDns"] | components["schemas"]["CreatePush"] | components["schemas"]["CreateSmtp"] | components["schemas"]["CreateTls"] | components["schemas"]["CreateVpn"];
        /** @description Website: requests a URL and judges the status code */
        CreateHttp: {
            /** @constant */
            type: "http";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Address to request, http or https */
            url: string;
            /**
             * @description Status codes or ranges that count as up
             * @default [
             *       "200-299"
             *     ]
             */
            accepted_statuscodes?: string[];
            /**
             * @description Address family to use; null for both
             * @default null
             */
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Days before certificate expiry to alert; 0 or null is off */
            ssl_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
            /** @description Days before domain expiry to alert; 0 or null is off */
            domain_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
            /**
             * @description Method of the request; null is GET
             * @default GET
             */
            method?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") | null;
            /** @description Headers to send, at most 32 and 8192 bytes. Their values are kept sealed and read back as ***, which keeps the value when it is sent back */
            headers?: {
                [key: string]: string;
            } | null;
            /**
             * @description Body to send, at most 65536 bytes; application/json or text/plain unless headers say otherwise. Kept sealed, reads back as ***
             * @default null
             */
            body?: string | null;
            /**
             * @description User name for Basic authentication. Kept sealed, reads back as ***
             * @default null
             */
            basic_auth_username?: string | null;
            /**
             * @description Password for Basic authentication. Kept sealed, reads back as ***
             * @default null
             */
            basic_auth_password?: string | null;
            /**
             * @description Token for `Authorization: Bearer`. Kept sealed, reads back as ***
             * @default null
             */
            bearer_token?: string | null;
            /**
             * @description Certificate to show to an https server that asks for one, with its chain, in PEM. Kept sealed, reads back as ***
             * @default null
             */
            client_certificate?: string | null;
            /**
             * @description Its private key, RSA up to 4,096 bits or EC, in PEM. Kept sealed, reads back as ***
             * @default null
             */
            client_key?: string | null;
            /**
             * @description Redirects to follow, null is 10; 0 follows none and judges the redirect's own status code
             * @default 10
             */
            max_redirects?: number | null;
            /**
             * @description Regular expression (RE2 syntax) that the first MiB of the answer must match somewhere
             * @default null
             */
            body_regex?: string | null;
            /**
             * @description Query (JSONata) of the answer's JSON; what it gives must be json_expected, or without it not be null, false or nothing
             * @default null
             */
            json_query?: string | null;
            /**
             * @description What json_query must give: a text as it is, all else as JSON, such as 5, true or [1,2]
             * @default null
             */
            json_expected?: string | null;
            /**
             * @description Whether a certificate that is not valid for the host counts as down
             * @default true
             */
            verify_certificate?: boolean;
            /**
             * @description Milliseconds; an answer that takes longer makes the check degraded. null: none does
             * @default null
             */
            max_response_time?: number | null;
            /**
             * @description True: the check passes when the website fails, and is down when it works
             * @default false
             */
            invert?: boolean | null;
        };
        /** @description Keyword: requests a URL and looks for a text in the answer */
        CreateKeyword: {
            /** @constant */
            type: "keyword";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Address to request, http or https */
            url: string;
            /**
             * @description Status codes or ranges that count as up
             * @default [
             *       "200-299"
             *     ]
             */
            accepted_statuscodes?: string[];
            /**
             * @description Address family to use; null for both
             * @default null
             */
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Days before certificate expiry to alert; 0 or null is off */
            ssl_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
            /** @description Days before domain expiry to alert; 0 or null is off */
            domain_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
            /**
             * @description Method of the request; null is GET
             * @default GET
             */
            method?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") | null;
            /** @description Headers to send, at most 32 and 8192 bytes. Their values are kept sealed and read back as ***, which keeps the value when it is sent back */
            headers?: {
                [key: string]: string;
            } | null;
            /**
             * @description Body to send, at most 65536 bytes; application/json or text/plain unless headers say otherwise. Kept sealed, reads back as ***
             * @default null
             */
            body?: string | null;
            /**
             * @description User name for Basic authentication. Kept sealed, reads back as ***
             * @default null
             */
            basic_auth_username?: string | null;
            /**
             * @description Password for Basic authentication. Kept sealed, reads back as ***
             * @default null
             */
            basic_auth_password?: string | null;
            /**
             * @description Token for `Authorization: Bearer`. Kept sealed, reads back as ***
             * @default null
             */
            bearer_token?: string | null;
            /**
             * @description Certificate to show to an https server that asks for one, with its chain, in PEM. Kept sealed, reads back as ***
             * @default null
             */
            client_certificate?: string | null;
            /**
             * @description Its private key, RSA up to 4,096 bits or EC, in PEM. Kept sealed, reads back as ***
             * @default null
             */
            client_key?: string | null;
            /**
             * @description Redirects to follow, null is 10; 0 follows none and judges the redirect's own status code
             * @default 10
             */
            max_redirects?: number | null;
            /**
             * @description Regular expression (RE2 syntax) that the first MiB of the answer must match somewhere
             * @default null
             */
            body_regex?: string | null;
            /**
             * @description Query (JSONata) of the answer's JSON; what it gives must be json_expected, or without it not be null, false or nothing
             * @default null
             */
            json_query?: string | null;
            /**
             * @description What json_query must give: a text as it is, all else as JSON, such as 5, true or [1,2]
             * @default null
             */
            json_expected?: string | null;
            /**
             * @description Whether a certificate that is not valid for the host counts as down
             * @default true
             */
            verify_certificate?: boolean;
            /**
             * @description Milliseconds; an answer that takes longer makes the check degraded. null: none does
             * @default null
             */
            max_response_time?: number | null;
            /**
             * @description True: the check passes when the website fails, and is down when it works
             * @default false
             */
            invert?: boolean | null;
            /** @description Text to look for, case-sensitive */
            keyword: string;
            /**
             * @description True to alert when the text is found
             * @default false
             */
            invert_keyword?: boolean;
        };
        /**
         * @description Ping: sends ICMP echo requests and measures the average round trip
         * @example {
         *       "type": "ping",
         *       "name": "Berlin 1",
         *       "host": "www.test-site.org"
         *     }
         */
        CreatePing: {
            /** @constant */
            type: "ping";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Name or address to ping */
            host: string;
            /**
             * @description Address family to use; null for both
             * @default null
             */
            ip_version?: ("ipv4" | "ipv6") | null;
        };
        /**
         * @description TCP port: connects and measures how long that takes
         * @example {
         *       "type": "port",
         *       "name": "Berlin 1",
         *       "host": "www.test-site.org",
         *       "port": 5432
         *     }
         */
        CreatePort: {
            /** @constant */
            type: "port";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Name or address to connect to */
            host: string;
            /** @description TCP port, 1 to 65535 */
            port: number;
            /**
             * @description Address family to use; null for both
             * @default null
             */
            ip_version?: ("ipv4" | "ipv6") | null;
        };
        /** @description DNS: asks a server for the addresses of a name */
        CreateDns: {
            /** @constant */
            type: "dns";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Name to ask for; with record_type PTR also an address */
            domain: string;
            /**
             * @description DNS server to ask
             * @default 1.1.1.1
             */
            host?: string;
            /**
             * @description Port of the DNS server
             * @default 53
             */
            port?: number;
            /**
             * @description Text that a record must contain; upper and lower case are the same in DNS
             * @default null
             */
            keyword?: string | null;
            /**
             * @description Type of record to ask for; null asks for A and AAAA
             * @default null
             */
            record_type?: ("A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA") | null;
            /**
             * @description Records that must all be there, as zone files write them, such as `10 mx.test-site.org`
             * @default null
             */
            expected?: string[] | null;
        };
        /**
         * @description Heartbeat: waits for calls from a job, and is down when they stay away
         * @example {
         *       "type": "push",
         *       "name": "Berlin 1",
         *       "period": 86400,
         *       "grace": 3600
         *     }
         */
        CreatePush: {
            /** @constant */
            type: "push";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Last part of the heartbeat's address, 10 to 64 letters or digits, where jobs call one already; made at random otherwise. Kept sealed, and shown in heartbeat_url only */
            token?: string;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Seconds, the longest time between two calls from the job */
            period: number;
            /** @description Seconds a call may be late before the heartbeat is down */
            grace?: number;
        };
        /** @description Mail server (SMTP): greeting, EHLO, STARTTLS and its certificate */
        CreateSmtp: {
            /** @constant */
            type: "smtp";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Name or address of the mail server */
            host: string;
            /**
             * @description TCP port: 25 between servers, 587 for submission, 465 with TLS from the first byte
             * @default 25
             */
            port?: number;
            /**
             * @description auto: STARTTLS where the server offers it; starttls: required; tls: TLS from the first byte; none: in the clear
             * @default auto
             * @enum {string}
             */
            security?: "auto" | "starttls" | "tls" | "none";
            /**
             * @description Whether a certificate that is not valid for the host counts as down
             * @default true
             */
            verify_certificate?: boolean;
            /**
             * @description Text that the greeting or the answer to EHLO must contain
             * @default null
             */
            keyword?: string | null;
            /**
             * @description Address family to use; null for both
             * @default null
             */
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Days before certificate expiry to alert; 0 or null is off */
            ssl_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
        };
        /** @description TLS: certificate and version of any port, also after STARTTLS */
        CreateTls: {
            /** @constant */
            type: "tls";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /** @description Name or address to connect to */
            host: string;
            /**
             * @description TCP port
             * @default 443
             */
            port?: number;
            /**
             * @description Protocol in which TLS is agreed on in the clear; null for TLS from the first byte
             * @default null
             */
            starttls?: ("smtp" | "imap" | "pop3" | "ftp" | "postgres") | null;
            /**
             * @description Name that is asked for and that the certificate must have; null for the host
             * @default null
             */
            servername?: string | null;
            /**
             * @description Oldest version of TLS that counts as up; null for any that Sonde offers, which are 1.2 and 1.3
             * @default null
             */
            min_version?: ("1.2" | "1.3") | null;
            /**
             * @description Address family to use; null for both
             * @default null
             */
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Days before certificate expiry to alert; 0 or null is off */
            ssl_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
        };
        CreateVpn: {
            /** @constant */
            type?: "vpn";
            /** @description 1 to 255 characters after trimming */
            name: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            /**
             * @description May be left out when url begins with a known scheme
             * @enum {string}
             */
            protocol?: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";
            url?: string | null;
            config?: string | null;
            host?: string | null;
            username?: string | null;
            password?: string | null;
            port?: number | null;
            proto?: ("udp" | "tcp") | null;
            remote_id?: string | null;
            ip?: string | null;
            servers?: {
                host: string;
                /** @default 1194 */
                port?: number;
                /**
                 * @default udp
                 * @enum {string}
                 */
                proto?: "udp" | "tcp";
            }[] | null;
            wg?: string | null;
            wireguard_config?: string | null;
            wireguard_ip?: string | null;
            group?: string | null;
            ca?: string | null;
            pin?: string | null;
            all_peers?: boolean | null;
            psk?: string | null;
            local_id?: string | null;
            cert?: string | null;
            key?: string | null;
        };
        UpdateMonitor: {
            /** @description 1 to 255 characters after trimming */
            name?: string;
            /** @description Only the type it has */
            type?: string;
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Addition: a check may take as long as the interval is, 10 seconds at least and 120 at most, whatever timeout says. Default: false */
            timeout_follows_interval?: boolean;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags?: string[];
            /** @description false is paused */
            active?: boolean;
            url?: string | (string | null);
            /**
             * @description Status codes or ranges that count as up
             * @default [
             *       "200-299"
             *     ]
             */
            accepted_statuscodes?: string[];
            ip_version?: (("ipv4" | "ipv6") | null) | (("ipv4" | "ipv6") | null);
            ssl_expiration?: ((0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null) | ((0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null) | ((0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null);
            /** @description Days before domain expiry to alert; 0 or null is off */
            domain_expiration?: (0 | 1 | 2 | 3 | 7 | 14 | 30 | 60) | null;
            /**
             * @description Method of the request; null is GET
             * @default GET
             */
            method?: ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS") | null;
            /** @description Headers to send, at most 32 and 8192 bytes. Their values are kept sealed and read back as ***, which keeps the value when it is sent back */
            headers?: {
                [key: string]: string;
            } | null;
            /**
             * @description Body to send, at most 65536 bytes; application/json or text/plain unless headers say otherwise. Kept sealed, reads back as ***
             * @default null
             */
            body?: string | null;
            /**
             * @description User name for Basic authentication. Kept sealed, reads back as ***
             * @default null
             */
            basic_auth_username?: string | null;
            /**
             * @description Password for Basic authentication. Kept sealed, reads back as ***
             * @default null
             */
            basic_auth_password?: string | null;
            /**
             * @description Token for `Authorization: Bearer`. Kept sealed, reads back as ***
             * @default null
             */
            bearer_token?: string | null;
            /**
             * @description Certificate to show to an https server that asks for one, with its chain, in PEM. Kept sealed, reads back as ***
             * @default null
             */
            client_certificate?: string | null;
            /**
             * @description Its private key, RSA up to 4,096 bits or EC, in PEM. Kept sealed, reads back as ***
             * @default null
             */
            client_key?: string | null;
            /**
             * @description Redirects to follow, null is 10; 0 follows none and judges the redirect's own status code
             * @default 10
             */
            max_redirects?: number | null;
            /**
             * @description Regular expression (RE2 syntax) that the first MiB of the answer must match somewhere
             * @default null
             */
            body_regex?: string | null;
            /**
             * @description Query (JSONata) of the answer's JSON; what it gives must be json_expected, or without it not be null, false or nothing
             * @default null
             */
            json_query?: string | null;
            /**
             * @description What json_query must give: a text as it is, all else as JSON, such as 5, true or [1,2]
             * @default null
             */
            json_expected?: string | null;
            /**
             * @description Whether a certificate that is not valid for the host counts as down
             * @default true
             */
            verify_certificate?: boolean;
            /**
             * @description Milliseconds; an answer that takes longer makes the check degraded. null: none does
             * @default null
             */
            max_response_time?: number | null;
            /**
             * @description True: the check passes when the website fails, and is down when it works
             * @default false
             */
            invert?: boolean | null;
            keyword?: string | (string | null) | (string | null);
            /**
             * @description True to alert when the text is found
             * @default false
             */
            invert_keyword?: boolean;
            host?: string | (string | null);
            port?: number | (number | null);
            /** @description Name to ask for; with record_type PTR also an address */
            domain?: string;
            /**
             * @description Type of record to ask for; null asks for A and AAAA
             * @default null
             */
            record_type?: ("A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA") | null;
            /**
             * @description Records that must all be there, as zone files write them, such as `10 mx.test-site.org`
             * @default null
             */
            expected?: string[] | null;
            /** @description Seconds, the longest time between two calls from the job */
            period?: number;
            /** @description Seconds a call may be late before the heartbeat is down */
            grace?: number;
            /**
             * @description auto: STARTTLS where the server offers it; starttls: required; tls: TLS from the first byte; none: in the clear
             * @default auto
             * @enum {string}
             */
            security?: "auto" | "starttls" | "tls" | "none";
            /**
             * @description Protocol in which TLS is agreed on in the clear; null for TLS from the first byte
             * @default null
             */
            starttls?: ("smtp" | "imap" | "pop3" | "ftp" | "postgres") | null;
            /**
             * @description Name that is asked for and that the certificate must have; null for the host
             * @default null
             */
            servername?: string | null;
            /**
             * @description Oldest version of TLS that counts as up; null for any that Sonde offers, which are 1.2 and 1.3
             * @default null
             */
            min_version?: ("1.2" | "1.3") | null;
            /**
             * @description May be left out when url begins with a known scheme
             * @enum {string}
             */
            protocol?: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";
            config?: string | null;
            username?: string | null;
            password?: string | null;
            proto?: ("udp" | "tcp") | null;
            remote_id?: string | null;
            ip?: string | null;
            servers?: {
                host: string;
                /** @default 1194 */
                port?: number;
                /**
                 * @default udp
                 * @enum {string}
                 */
                proto?: "udp" | "tcp";
            }[] | null;
            wg?: string | null;
            wireguard_config?: string | null;
            wireguard_ip?: string | null;
            group?: string | null;
            ca?: string | null;
            pin?: string | null;
            all_peers?: boolean | null;
            psk?: string | null;
            local_id?: string | null;
            cert?: string | null;
            key?: string | null;
        };
        /**
         * @example {
         *       "select": {
         *         "tags": [
         *           "prod"
         *         ]
         *       },
         *       "action": "pause",
         *       "dry_run": true
         *     }
         */
        BulkAct: {
            /** @description Which monitors: `all`, `ids`, `tags`, `any_tag`, `kinds`, `family`, `subscription_ids`, `name`, `status`, and-ed; `not` leaves out what it selects */
            select: {
                [key: string]: unknown;
            };
            /** @enum {string} */
            action: "pause" | "resume" | "delete" | "set" | "check";
            /** @description Of the action `set` */
            set?: components["schemas"]["BulkSet"];
            /** @description Tells what would be, and changes nothing */
            dry_run?: boolean;
            /** @description Refused when another number of monitors matches now */
            expect?: number;
        };
        BulkSet: {
            /** @description Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer */
            interval?: number;
            /** @description Seconds a request may take, 10 to 120; 0 or omitted is 60 */
            timeout?: number;
            /** @description Failed checks in a row before the check is down; 0 or omitted is 2 */
            maxretries?: number;
            /** @description Saved lowercase, duplicates dropped */
            tags_add?: string[];
            /** @description Saved lowercase, duplicates dropped */
            tags_remove?: string[];
            notify_on_partial?: boolean;
            locations?: string[];
        };
        /**
         * @example {
         *       "locations": [
         *         "de",
         *         "nl"
         *       ],
         *       "disabled_locations": []
         *     }
         */
        UpdateLocations: {
            /** @description Where it is checked from, each once; countries need Pro or above */
            locations?: string[];
            /** @description Those of them that are paused */
            disabled_locations?: string[];
            /** @description Whether an outage of some of its locations alerts */
            notify_on_partial?: boolean;
        };
        /**
         * @example {
         *       "document": "sonde: 1\nmonitors:\n  mail: { type: port, host: mail.test-site.org, port: 25 }\n",
         *       "dry_run": true
         *     }
         */
        ApplyDocument: {
            /** @description The document: YAML or JSON */
            document: string;
            /** @description In the place of the document's own name */
            name?: string;
            /** @description Tells what would be, and changes nothing */
            dry_run?: boolean;
            /** @description Removes what the document had and has no more; by default it stays */
            prune?: boolean;
            /** @description Takes over things of equal name and target that no document has, instead of making them twice */
            adopt?: boolean;
            /** @description Applies the others when some things are refused */
            skip_refused?: boolean;
            /** @description The hash of the plan that was looked at; needed without dry_run */
            expect?: string;
        };
        /**
         * @example {
         *       "name": "Down in production",
         *       "query": "q=status%3Adown+tag%3Aprod"
         *     }
         */
        SaveView: {
            name: string;
            /**
             * @description As the page's address has it after `?`
             * @example q=status%3Adown
             */
            query: string;
            /**
             * @description For everyone in the project; for Owners, Admins and Managers
             * @default false
             */
            shared?: boolean;
        };
        /**
         * @example {
         *       "ids": [
         *         "inc_12",
         *         "inc_13"
         *       ],
         *       "note": "Looking into it"
         *     }
         */
        AcknowledgeIncidents: {
            /** @description Incidents, `inc_<n>` or `<n>` */
            ids: string[];
            note?: string | null;
        };
        AcknowledgeIncident: {
            note?: string | null;
        };
        /**
         * @example {
         *       "text": "Deploy 4121 is rolled back",
         *       "phase": "investigating"
         *     }
         */
        IncidentNote: {
            /** @description 1 to 5000 characters after trimming */
            text: string;
            /** @description A word for readers; it closes nothing */
            phase?: ("investigating" | "identified" | "monitoring" | "resolved") | null;
            /** @description Whether public pages show it. Default: false */
            public?: boolean;
        };
        /**
         * @example {
         *       "title": "Frankfurt unreachable",
         *       "postmortem": "A router lost its routes.",
         *       "public": true
         *     }
         */
        IncidentReport: {
            /** @description What readers are told; null: our own words */
            title?: string | null;
            /** @description Markdown: why it happened */
            postmortem?: string | null;
            /** @description Whether public pages show both. Default: false */
            public?: boolean;
        };
        PlanMaintenance: components["schemas"]["CreateMaintenance"] | components["schemas"]["CreateMaintenanceSchedule"];
        /**
         * @example {
         *       "tag": "prod",
         *       "ends_at": "2026-11-21T08:00:00.000Z"
         *     }
         */
        CreateMaintenance: {
            /** @description Monitors, `srv_<n>` or `<n>` */
            server_ids?: string[];
            /** @description Every monitor that has this tag now */
            tag?: string;
            /** @description ISO time; now when absent or in the past */
            starts_at?: string;
            /** @description ISO time, at most a year from now */
            ends_at: string;
        };
        /**
         * @example {
         *       "title": "Backups",
         *       "select": {
         *         "tags": [
         *           "prod"
         *         ]
         *       },
         *       "schedule": {
         *         "type": "weekly",
         *         "days": [
         *           1,
         *           4
         *         ],
         *         "from": "02:00",
         *         "minutes": 90
         *       },
         *       "timezone": "Europe/Berlin"
         *     }
         */
        CreateMaintenanceSchedule: {
            /** @description 1 to 255 characters after trimming */
            title: string;
            /** @description At most 5000 characters, for readers of public pages */
            text?: string;
            /** @description A selector, resolved when a turn comes: a monitor that is tagged later is covered */
            select: {
                [key: string]: unknown;
            };
            schedule: components["schemas"]["MaintenanceTurns"];
            /** @description IANA name. Default: UTC */
            timezone?: string;
            /** @description First day of turns, YYYY-MM-DD in the zone */
            starts_on?: string | null;
            /** @description Last day of turns, YYYY-MM-DD in the zone */
            ends_on?: string | null;
            /** @description Whether public pages tell of it. Default: false */
            announce?: boolean;
        };
        /** @description Once, some days of the week, or by a cron pattern */
        MaintenanceTurns: components["schemas"]["MaintenanceOnce"] | components["schemas"]["MaintenanceWeekly"] | components["schemas"]["MaintenanceCron"];
        MaintenanceOnce: {
            /** @constant */
            type: "once";
            /** @description ISO time */
            starts_at: string;
            /** @description ISO time */
            ends_at: string;
        };
        MaintenanceWeekly: {
            /** @constant */
            type: "weekly";
            /** @description 1 is Monday, 7 Sunday */
            days: number[];
            /**
             * @description Local time, HH:MM
             * @example 02:00
             */
            from: string;
            /** @description How long a turn is */
            minutes: number;
        };
        MaintenanceCron: {
            /** @constant */
            type: "cron";
            /**
             * @description Five fields, local time
             * @example 0 2 1 * *
             */
            cron: string;
            /** @description How long a turn is */
            minutes: number;
        };
        /**
         * @example {
         *       "kind": "ntfy",
         *       "name": "Phone",
         *       "settings": {
         *         "server": "https://ntfy.test-site.org",
         *         "topic": "sonde",
         *         "token": "tk_4f1b"
         *       }
         *     }
         */
        CreateChannel: {
            /**
             * @description One of GET /channels/kinds
             * @enum {string}
             */
            kind: "email" | "slack" | "discord" | "telegram" | "teams" | "google_chat" | "pagerduty" | "ntfy" | "pushover" | "gotify" | "matrix" | "webhook" | "custom" | "apprise";
            /** @description Unique in the project; 1 to 120 characters after trimming */
            name: string;
            /** @description As GET /channels/kinds describes them */
            settings: {
                [key: string]: unknown;
            };
            /** @description Default: true */
            active?: boolean;
        };
        /**
         * @example {
         *       "kind": "ntfy",
         *       "settings": {
         *         "server": "https://ntfy.test-site.org",
         *         "topic": "sonde"
         *       }
         *     }
         */
        TestUnsavedChannel: {
            /**
             * @description One of GET /channels/kinds
             * @enum {string}
             */
            kind: "email" | "slack" | "discord" | "telegram" | "teams" | "google_chat" | "pagerduty" | "ntfy" | "pushover" | "gotify" | "matrix" | "webhook" | "custom" | "apprise";
            /** @description As GET /channels/kinds describes them */
            settings: {
                [key: string]: unknown;
            };
            /** @description A channel whose secrets stand for those that are left out, `ch_<n>` */
            id?: string;
            /**
             * @description What the sample is about. Default: test
             * @enum {string}
             */
            reason?: "opened" | "raised" | "reminder" | "recovered" | "acknowledged" | "partial" | "expiring" | "sync" | "channel" | "digest" | "test";
        };
        /**
         * @example {
         *       "active": false
         *     }
         */
        ChangeChannel: {
            name?: string;
            /** @description Whole, but for secrets: those that are left out stay, null takes one away */
            settings?: {
                [key: string]: unknown;
            };
            active?: boolean;
        };
        /**
         * @example {
         *       "reason": "opened"
         *     }
         */
        TestChannel: {
            /**
             * @description What the sample is about. Default: test
             * @enum {string}
             */
            reason?: "opened" | "raised" | "reminder" | "recovered" | "acknowledged" | "partial" | "expiring" | "sync" | "channel" | "digest" | "test";
        };
        /**
         * @example {
         *       "version": 0,
         *       "rules": [
         *         {
         *           "name": "Production",
         *           "match": {
         *             "select": {
         *               "tags": [
         *                 "prod"
         *               ]
         *             }
         *           },
         *           "group_by": "host"
         *         }
         *       ]
         *     }
         */
        AlertRulesChange: {
            /** @description As it was read; 409 when the list is another by now */
            version: number;
            rules: {
                /**
                 * @description Of a rule that is there already; null: a new one
                 * @default null
                 */
                id?: number | null;
                name: string;
                /** @default true */
                active?: boolean;
                /**
                 * @description Rules after it are looked at too
                 * @default false
                 */
                continue?: boolean;
                /** @default {} */
                match?: {
                    /** @default null */
                    events?: ("down" | "login_refused" | "partial" | "configs" | "certificate" | "domain" | "sync" | "channel")[] | null;
                    /**
                     * @description A selector; null: everything
                     * @default null
                     */
                    select?: {
                        [key: string]: unknown;
                    } | null;
                    /** @default null */
                    severity?: ("critical" | "warning")[] | null;
                };
                /**
                 * @description null: every active channel
                 * @default null
                 */
                channels?: string[] | null;
                /**
                 * @description Told only if it still holds then
                 * @default 0
                 */
                delay_s?: number;
                /**
                 * @description none, monitor, host, subscription, project or tag:<name>
                 * @default host
                 */
                group_by?: string;
                /**
                 * @description The first message of a group waits so long for others
                 * @default 30
                 */
                wait_s?: number;
                /**
                 * @description Between two messages of a group
                 * @default 300
                 */
                interval_s?: number;
                /**
                 * @description Said again while it holds; null: never
                 * @default null
                 */
                repeat_s?: number | null;
                /**
                 * @description Each further repetition comes so many times later, a day at most
                 * @default 2
                 */
                repeat_growth?: number;
                /** @default true */
                recovered?: boolean;
                /**
                 * @description Id of quiet hours
                 * @default null
                 */
                quiet_hours?: number | null;
                /** @default [] */
                escalation?: {
                    after_s: number;
                    channels: string[];
                    /**
                     * @default acknowledged
                     * @constant
                     */
                    unless?: "acknowledged";
                }[];
                /**
                 * @description Words of messages in Liquid, in place of ours; null: ours
                 * @default null
                 */
                template?: {
                    /** @default null */
                    title?: string | null;
                    /** @default null */
                    summary?: string | null;
                } | null;
            }[];
        };
        /**
         * @example {
         *       "server_id": "srv_12",
         *       "event": "down"
         *     }
         * @example {
         *       "incident_id": "inc_9"
         *     }
         */
        AlertPreviewQuestion: {
            /** @description A monitor, `srv_<n>`; or else an incident */
            server_id?: string;
            /** @description An incident, `inc_<n>`: its monitor, and what it is about */
            incident_id?: string;
            /**
             * @description Of the monitor
             * @default down
             * @enum {string}
             */
            event?: "down" | "login_refused" | "partial" | "configs" | "certificate" | "domain" | "sync" | "channel";
        };
        /**
         * @example {
         *       "version": 0,
         *       "quiet_hours": [
         *         {
         *           "name": "Night",
         *           "timezone": "Europe/Berlin",
         *           "spans": [
         *             {
         *               "days": [
         *                 1,
         *                 2,
         *                 3,
         *                 4,
         *                 5
         *               ],
         *               "from": "22:00",
         *               "to": "07:00"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        QuietHoursChange: {
            /** @description As it was read; 409 when the list is another by now */
            version: number;
            quiet_hours: {
                /**
                 * @description Of a rule that is there already; null: a new one
                 * @default null
                 */
                id?: number | null;
                name: string;
                timezone: string;
                /** @description 1 is Monday; `to` before `from` is on the next day, the same is a whole day */
                spans: {
                    days: number[];
                    from: string;
                    to: string;
                }[];
                /**
                 * @default hold
                 * @enum {string}
                 */
                mode?: "hold" | "drop";
                /** @default {} */
                let_through?: {
                    /** @default [] */
                    severity?: ("critical" | "warning")[];
                    /** @default [] */
                    tags?: string[];
                };
            }[];
        };
        /**
         * @example {
         *       "title": "Backups"
         *     }
         */
        UpdateMaintenanceSchedule: {
            /** @description 1 to 255 characters after trimming */
            title?: string;
            /** @description At most 5000 characters, for readers of public pages */
            text?: string;
            /** @description A selector, resolved when a turn comes: a monitor that is tagged later is covered */
            select?: {
                [key: string]: unknown;
            };
            schedule?: components["schemas"]["MaintenanceTurns"];
            /** @description IANA name. Default: UTC */
            timezone?: string;
            /** @description First day of turns, YYYY-MM-DD in the zone */
            starts_on?: string | null;
            /** @description Last day of turns, YYYY-MM-DD in the zone */
            ends_on?: string | null;
            /** @description Whether public pages tell of it. Default: false */
            announce?: boolean;
        };
        /**
         * @example {
         *       "slug": "acme-vpn",
         *       "title": "Acme VPN",
         *       "published": true,
         *       "groups": [
         *         {
         *           "title": "Europe",
         *           "components": [
         *             {
         *               "servers": {
         *                 "tags": [
         *                   "eu"
         *                 ]
         *               },
         *               "title": "Frankfurt",
         *               "merge": "worst"
         *             }
         *           ]
         *         }
         *       ]
         *     }
         */
        CreateStatusPage: {
            /** @description 1 to 63 of a to z, 0 to 9 and hyphens; unique in the service: the page is at `/status/{slug}` */
            slug: string;
            /** @description 1 to 120 characters after trimming */
            title: string;
            /** @description Markdown below the title */
            text?: string;
            /** @description Without it the page is a draft, and 404 for readers. Default: false */
            published?: boolean;
            /** @description In `/status`, where the service has that list. Default: false */
            listed?: boolean;
            /** @description Whether search engines may keep it. Default: true */
            index?: boolean;
            /** @description Own domains, which lead here by the header Host */
            domains?: string[];
            /** @description Default: public */
            access?: {
                /** @enum {string} */
                type: "public" | "link" | "password" | "session";
                /** @description For `password`; never returned */
                password?: string;
                /** @description For `link`: makes a new one, and the one before stops to work */
                rotate?: boolean;
            };
            /** @description IANA name. Default: UTC */
            timezone?: string;
            /** @description BCP 47. Default: en */
            language?: string;
            /** @enum {string} */
            theme?: "auto" | "light" | "dark";
            /** @description `#rrggbb` */
            accent?: string;
            /** @description A data URL of an image of at most 65536 bytes */
            logo?: string | null;
            /** @description At most 32768 bytes, behind the page's own style */
            css?: string | null;
            links?: {
                home?: string | null;
                contact?: string | null;
            };
            /**
             * @description Whose pages may show it in a frame. Default: none
             * @enum {string}
             */
            frame?: "none" | "self" | "*";
            days?: number;
            show?: {
                uptime?: boolean;
                latency?: boolean;
                certificate?: boolean;
                incidents_days?: number;
            };
            /** @description At most 200 components together; replaced as a whole */
            groups?: {
                title: string;
                /**
                 * @description Default: problems
                 * @enum {string}
                 */
                open?: "problems" | "always" | "never";
                components: {
                    /** @description Which monitors: a selector, as `POST /servers/bulk` has it */
                    servers: {
                        [key: string]: unknown;
                    };
                    /** @description Required but for `each`, where a line has the monitor's name */
                    title?: string | null;
                    text?: string;
                    /**
                     * @description `each`: a line for each monitor · `worst`, `share`: one line for all. Default: each
                     * @enum {string}
                     */
                    merge?: "each" | "worst" | "share";
                }[];
            }[];
        };
        /**
         * @example {
         *       "published": true
         *     }
         */
        UpdateStatusPage: {
            /** @description 1 to 63 of a to z, 0 to 9 and hyphens; unique in the service: the page is at `/status/{slug}` */
            slug?: string;
            /** @description 1 to 120 characters after trimming */
            title?: string;
            /** @description Markdown below the title */
            text?: string;
            /** @description Without it the page is a draft, and 404 for readers. Default: false */
            published?: boolean;
            /** @description In `/status`, where the service has that list. Default: false */
            listed?: boolean;
            /** @description Whether search engines may keep it. Default: true */
            index?: boolean;
            /** @description Own domains, which lead here by the header Host */
            domains?: string[];
            /** @description Default: public */
            access?: {
                /** @enum {string} */
                type: "public" | "link" | "password" | "session";
                /** @description For `password`; never returned */
                password?: string;
                /** @description For `link`: makes a new one, and the one before stops to work */
                rotate?: boolean;
            };
            /** @description IANA name. Default: UTC */
            timezone?: string;
            /** @description BCP 47. Default: en */
            language?: string;
            /** @enum {string} */
            theme?: "auto" | "light" | "dark";
            /** @description `#rrggbb` */
            accent?: string;
            /** @description A data URL of an image of at most 65536 bytes */
            logo?: string | null;
            /** @description At most 32768 bytes, behind the page's own style */
            css?: string | null;
            links?: {
                home?: string | null;
                contact?: string | null;
            };
            /**
             * @description Whose pages may show it in a frame. Default: none
             * @enum {string}
             */
            frame?: "none" | "self" | "*";
            days?: number;
            show?: {
                uptime?: boolean;
                latency?: boolean;
                certificate?: boolean;
                incidents_days?: number;
            };
            /** @description At most 200 components together; replaced as a whole */
            groups?: {
                title: string;
                /**
                 * @description Default: problems
                 * @enum {string}
                 */
                open?: "problems" | "always" | "never";
                components: {
                    /** @description Which monitors: a selector, as `POST /servers/bulk` has it */
                    servers: {
                        [key: string]: unknown;
                    };
                    /** @description Required but for `each`, where a line has the monitor's name */
                    title?: string | null;
                    text?: string;
                    /**
                     * @description `each`: a line for each monitor · `worst`, `share`: one line for all. Default: each
                     * @enum {string}
                     */
                    merge?: "each" | "worst" | "share";
                }[];
            }[];
            /** @description `updated_at` as you read it: where another has changed the page since, the answer is 409 */
            if_updated_at?: string;
        };
        /**
         * @example {
         *       "title": "New kernels tonight",
         *       "level": "maintenance"
         *     }
         */
        CreateStatusPageUpdate: {
            /** @description 1 to 120 characters after trimming */
            title: string;
            /** @description Markdown */
            text?: string;
            /**
             * @description Default: info
             * @enum {string}
             */
            level?: "info" | "maintenance" | "warning" | "outage" | "resolved";
            /** @description ISO time until which it stands at the top; without one a week */
            ends_at?: string | null;
        };
        /**
         * @example {
         *       "title": "New kernels tomorrow"
         *     }
         */
        UpdateStatusPageUpdate: {
            /** @description 1 to 120 characters after trimming */
            title?: string;
            /** @description Markdown */
            text?: string;
            /**
             * @description Default: info
             * @enum {string}
             */
            level?: "info" | "maintenance" | "warning" | "outage" | "resolved";
            /** @description ISO time until which it stands at the top; without one a week */
            ends_at?: string | null;
        };
        /**
         * @example {
         *       "url": "https://hooks.test-site.org/sonde",
         *       "events": [
         *         "incident.opened"
         *       ]
         *     }
         */
        CreateWebhook: {
            /** @description http or https, without a user name; at most 8192 bytes. Kept sealed */
            url: string;
            /** @description Absent or null: every type */
            events?: ("monitor.paused" | "monitor.resumed" | "monitor.partial" | "monitor.certificate_expiring" | "monitor.domain_expiring" | "monitor.configs_failing" | "monitor.configs_recovered" | "incident.opened" | "incident.level_changed" | "incident.recovered" | "incident.acknowledged" | "subscription.sync_failed" | "subscription.auto_disabled" | "channel.failing" | "webhook.test")[] | null;
        };
        /**
         * @example {
         *       "events": [
         *         "incident.opened",
         *         "incident.recovered"
         *       ]
         *     }
         */
        UpdateWebhook: {
            /** @description http or https, without a user name; at most 8192 bytes. Kept sealed */
            url?: string;
            events?: ("monitor.paused" | "monitor.resumed" | "monitor.partial" | "monitor.certificate_expiring" | "monitor.domain_expiring" | "monitor.configs_failing" | "monitor.configs_recovered" | "incident.opened" | "incident.level_changed" | "incident.recovered" | "incident.acknowledged" | "subscription.sync_failed" | "subscription.auto_disabled" | "channel.failing" | "webhook.test")[] | null;
        };
        /**
         * @example {
         *       "source": "gatus",
         *       "text": "endpoints: [{ name: shop, url: \"https://www.test-site.org/\", conditions: [\"[STATUS] == 200\"] }]"
         *     }
         */
        ConvertImport: {
            /**
             * @description The other program
             * @enum {string}
             */
            source: "kuma" | "gatus" | "blackbox" | "xray-checker" | "uptimerobot" | "betterstack" | "checkly" | "openstatus";
            /** @description Its file; of Uptime Kuma the JSON backup */
            text?: string;
            /** @description Several files of one program, instead of `text` */
            files?: {
                name: string;
                text: string;
            }[];
            /** @description Checks of databases and brokers become checks of their TCP port */
            as_port?: boolean;
            /** @description A monitor runs although a condition of it could not be said */
            drop_extra?: boolean;
        };
        CreateSubscription: {
            /** @description http or https, a public address, used by no other subscription of the project */
            url: string;
            /** @description null is none */
            name?: string | null;
            /** @description Seconds between syncs, and the check interval of its monitors; not below the plan's shortest. Default 300, or that if longer */
            syncIntervalSec?: number;
            /** @description Seconds each server's test may take. Default 30 */
            timeoutSeconds?: number;
            /** @description Servers tested at the same time. Default 50 */
            maxWorkers?: number;
            /** @description Percent; a monitor of several configs alerts when a smaller share of them works, 0 is never. Default 50 */
            configAlertPercent?: number;
            /** @description The string `false` counts as true */
            enabled?: boolean;
        };
        UpdateSubscription: {
            /** @description http or https, a public address, used by no other subscription of the project */
            url?: string;
            /** @description null is none */
            name?: string | null;
            /** @description Seconds between syncs, and the check interval of its monitors; not below the plan's shortest. Default 300, or that if longer */
            syncIntervalSec?: number;
            /** @description Seconds each server's test may take. Default 30 */
            timeoutSeconds?: number;
            /** @description Servers tested at the same time. Default 50 */
            maxWorkers?: number;
            /** @description Percent; a monitor of several configs alerts when a smaller share of them works, 0 is never. Default 50 */
            configAlertPercent?: number;
            /** @description The string `false` counts as true */
            enabled?: boolean;
        };
        /**
         * @example {
         *       "only": "healthy",
         *       "limit": 10
         *     }
         */
        RevealLinks: {
            /**
             * @description Default: healthy
             * @enum {string}
             */
            only?: "healthy" | "all";
            /** @description The fastest so many. Default: all */
            limit?: number;
            /**
             * @description One a line, or all of it in base64, as clients take lists. Default: plain
             * @enum {string}
             */
            format?: "plain" | "base64";
        };
        TestMonitor: {
            /** @example srv_12 */
            server_id: string;
            /**
             * @description `any` or a lowercase two-letter country code; a country needs Pro or above
             * @example de
             */
            region?: string;
            /** @description `any` runs from the general pool when no checker is in the region, `fail` refuses; anything else counts as `any` */
            region_fallback?: string;
        };
        TestMonitors: {
            server_ids: string[];
            /**
             * @description `any` or a lowercase two-letter country code; a country needs Pro or above
             * @example de
             */
            region?: string;
            /** @description `any` runs from the general pool when no checker is in the region, `fail` refuses; anything else counts as `any` */
            region_fallback?: string;
        };
        CheckMonitor: {
            /**
             * @description `any` or a lowercase two-letter country code; a country needs Pro or above
             * @example de
             */
            region?: string;
            /** @description `any` runs from the general pool when no checker is in the region, `fail` refuses; anything else counts as `any` */
            region_fallback?: string;
        };
        CheckConfig: {
            /**
             * @description Share link, config file (wireguard, amneziawg, openvpn), or `host` or `host:port` (openconnect, ikev2); required unless host is given
             * @example vless://2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f@vpn.test-site.org:443?security=tls#Berlin
             */
            config?: string;
            /** @description At most 253 bytes */
            host?: string;
            /** @description At most 256 bytes */
            username?: string;
            /** @description At most 4096 bytes */
            password?: string;
            port?: number;
            /** @description ikev2: the server's identity; by default the host */
            remote_id?: string;
            /** @description openconnect, at most 256 bytes */
            group?: string;
            /** @description openconnect and ikev2: PEM, at most 102400 bytes */
            ca?: string;
            /** @description openconnect: pin-sha256:…, at most 256 bytes */
            pin?: string;
            /** @description ikev2, at most 4096 bytes */
            psk?: string;
            /** @description ikev2: our identity; by default the username, the certificate's subject, or our address, at most 256 bytes */
            local_id?: string;
            /** @description ikev2: our certificate in PEM, and those between it and the gateway's authority; with username EAP-TLS, at most 102400 bytes */
            cert?: string;
            /** @description ikev2: its private key in PEM, not encrypted, at most 32768 bytes */
            key?: string;
            /**
             * @description Required unless config is a share link
             * @enum {string}
             */
            protocol?: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";
            /** @description Seconds; clamped to what is allowed, never refused */
            timeout?: number;
            /**
             * @description Share links only; by default the service's order
             * @enum {string}
             */
            engine?: "xray" | "singbox";
            /**
             * @description `any` or a lowercase two-letter country code; a country needs Pro or above
             * @example de
             */
            region?: string;
            /** @description `any` runs from the general pool when no checker is in the region, `fail` refuses; anything else counts as `any` */
            region_fallback?: string;
        };
        CheckConfigWithoutKey: {
            /**
             * @description Share link, config file (wireguard, amneziawg, openvpn), or `host` or `host:port` (openconnect, ikev2); required unless host is given
             * @example vless://2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f@vpn.test-site.org:443?security=tls#Berlin
             */
            config?: string;
            /** @description At most 253 bytes */
            host?: string;
            /** @description At most 256 bytes */
            username?: string;
            /** @description At most 4096 bytes */
            password?: string;
            port?: number;
            /** @description ikev2: the server's identity; by default the host */
            remote_id?: string;
            /** @description openconnect, at most 256 bytes */
            group?: string;
            /** @description openconnect and ikev2: PEM, at most 102400 bytes */
            ca?: string;
            /** @description openconnect: pin-sha256:…, at most 256 bytes */
            pin?: string;
            /** @description ikev2, at most 4096 bytes */
            psk?: string;
            /** @description ikev2: our identity; by default the username, the certificate's subject, or our address, at most 256 bytes */
            local_id?: string;
            /** @description ikev2: our certificate in PEM, and those between it and the gateway's authority; with username EAP-TLS, at most 102400 bytes */
            cert?: string;
            /** @description ikev2: its private key in PEM, not encrypted, at most 32768 bytes */
            key?: string;
            /**
             * @description Required unless config is a share link
             * @enum {string}
             */
            protocol?: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";
            /** @description Seconds; clamped to what is allowed, never refused */
            timeout?: number;
            /** @constant */
            region?: "any";
        };
        /**
         * @example {
         *       "text": "trojan://secret@vpn.test-site.org:443#Berlin",
         *       "at_once": 8
         *     }
         */
        CheckMany: {
            /** @description Share links, one a line, such a list in base64, or a client's YAML or JSON; at most 10000 configurations and 2 MiB */
            text?: string;
            /** @description Instead of text: a subscription's address, fetched once and not kept */
            url?: string;
            /** @description Checks at one time. Default: 8 */
            at_once?: number;
            /** @description Seconds of one check; clamped to what is allowed */
            timeout?: number;
            /**
             * @description Share links only; by default the service's order
             * @enum {string}
             */
            engine?: "xray" | "singbox";
            /**
             * @description `any` or a lowercase two-letter country code; a country needs Pro or above
             * @example de
             */
            region?: string;
            /** @description `any` runs from the general pool when no checker is in the region, `fail` refuses; anything else counts as `any` */
            region_fallback?: string;
        };
        CreateKey: {
            /** @example ci */
            name: string;
            /**
             * @description Date or date-time; a date alone means 00:00:00 UTC. Omitted or null: never. A key that expires makes none that lives longer, so it must send one
             * @example 2030-12-31T00:00:00Z
             */
            expires?: string | null;
        };
        /**
         * @example {
         *       "email": "ada@test-site.org",
         *       "role": "viewer"
         *     }
         */
        InviteMember: {
            email: string;
            /** @description Of a person who is new here */
            name?: string | null;
            /** @enum {string} */
            role: "owner" | "admin" | "manager" | "viewer";
        };
        /**
         * @example {
         *       "role": "manager"
         *     }
         */
        ChangeMember: {
            /** @enum {string} */
            role: "owner" | "admin" | "manager" | "viewer";
        };
        /**
         * @description One of the three
         * @example {
         *       "code": "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE"
         *     }
         */
        SignIn: {
            /** @description An API key */
            key?: string;
            /** @description The code of a sign-in link, which is used up */
            code?: string;
            /** @description What the browser answers to the challenge of POST /session/passkey, as JSON (WebAuthn section 5.1) */
            passkey?: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "name": "Phone",
         *       "credential": {}
         *     }
         */
        NewPasskey: {
            name: string;
            /** @description What the browser answers, as JSON (WebAuthn section 5.1) */
            credential: {
                [key: string]: unknown;
            };
        };
        /**
         * @example {
         *       "name": "Phone"
         *     }
         */
        RenamePasskey: {
            name: string;
        };
        Error404: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 404;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error405: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 405;
            /** @description More detail on some errors */
            details?: unknown;
        };
        MonitorList: {
            servers: components["schemas"]["MonitorRow"][];
            total: number;
        };
        MonitorRow: {
            /** @example srv_12 */
            id: string;
            name: string;
            /** @enum {string} */
            type: "vpn" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            status: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
            /**
             * @description Always equal to status
             * @enum {string}
             */
            aggregate_status: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
            active: boolean;
            /** @description Seconds between scheduled checks */
            interval: number | null;
            /** @description Addition: a check may take as long as the interval is; absent for heartbeats */
            timeout_follows_interval?: boolean;
            latency_ms: number | null;
            /** @description Tunnels only */
            connect_ms?: number | null;
            region: string | null;
            locations: string[];
            disabled_locations: string[];
            regional_status: {
                [key: string]: components["schemas"]["RegionalStatus"];
            };
            notify_on_partial: boolean;
            tags: string[];
            last_checked: string | null;
            /** @description Addition: the stretch of maintenance that is on or comes next; absent while there is none */
            maintenance?: components["schemas"]["MaintenanceSpan"];
            /** @description Only on monitors imported from a subscription */
            subscription?: components["schemas"]["SubscriptionBlock"];
            /** @description This and the next ten: uptime checks only. A user name and a password in it are never shown (`https://***@host/`), the query only to callers who can edit (`?***` to others), a fragment is not kept. Sent back in PUT, `***` keeps what it stands for, on the same scheme, host and port only */
            url?: string | null;
            host?: string | null;
            domain?: string | null;
            port?: number | null;
            keyword?: string | null;
            invert_keyword?: boolean;
            accepted_statuscodes?: string[];
            certificate?: components["schemas"]["Certificate"] | null;
            ssl_expiration?: number | null;
            domain_expiration?: number | null;
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Heartbeats only, seconds */
            period?: number;
            /** @description Heartbeats only, seconds */
            grace?: number;
            method?: unknown | null;
            headers?: unknown | null;
            body?: (string | null) | null;
            basic_auth_username?: (string | null) | null;
            basic_auth_password?: (string | null) | null;
            bearer_token?: (string | null) | null;
            client_certificate?: (string | null) | null;
            client_key?: (string | null) | null;
            max_redirects?: unknown | null;
            body_regex?: (string | null) | null;
            json_query?: (string | null) | null;
            json_expected?: (string | null) | null;
            verify_certificate?: boolean | null;
            max_response_time?: (number | null) | null;
            invert?: unknown | null;
            record_type?: (("A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA") | null) | null;
            expected?: unknown | null;
            security?: ("auto" | "starttls" | "tls" | "none") | null;
            starttls?: (("smtp" | "imap" | "pop3" | "ftp" | "postgres") | null) | null;
            servername?: (string | null) | null;
            min_version?: (("1.2" | "1.3") | null) | null;
            /** @description Only with `explain=1`: how late the latest check started, ms */
            lateness_ms?: number | null;
        };
        RegionalStatus: {
            /** @enum {string} */
            status: "up" | "down" | "pending" | "degraded" | "unavailable" | "unknown";
            /**
             * @description ISO 8601, UTC, with milliseconds; empty before the first check
             * @example 2026-11-21T06:10:00.000Z
             */
            last_check: string;
            ping_ms: number | null;
            /** @enum {string} */
            error_category?: "server_not_connected" | "internet_stuck" | "timeout" | "auth_failed" | "cert_error" | "config_error" | "dns_error" | "checker_error" | "rejected";
        };
        MaintenanceSpan: {
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            starts_at: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            ends_at: string;
        };
        SubscriptionBlock: {
            /** @description null once the subscription is deleted */
            subscription_url_id: string | null;
            server_address: string | null;
            server_name: string | null;
            /** @description All of them; at most 256 are tested and listed */
            config_count: number;
            healthy_count: number;
            configs: components["schemas"]["ImportedConfig"][];
        };
        ImportedConfig: {
            /** @description Its name in the subscription */
            tag: string;
            /** @description Its protocol, such as vless */
            type: string;
            server: string;
            port: number | string;
            success: boolean;
            total_ms: number;
            error: string;
            error_category: string;
            /** @description Where traffic left from when the check passed */
            public_ip: string;
            engine_used: string;
            /** @description The same by location */
            region_results: {
                [key: string]: {
                    success: boolean;
                    total_ms: number;
                    error: string;
                    error_category: string;
                    /** @description Where traffic left from when the check passed */
                    public_ip: string;
                    engine_used: string;
                };
            };
        };
        Certificate: {
            valid: boolean;
            days_remaining: number;
        };
        Error400: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 400;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error401: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 401;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error403: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 403;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error429: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 429;
            /** @description More detail on some errors */
            details?: unknown;
            /** @description Seconds */
            retry_after?: number;
        };
        UsageLimitError: {
            /** @enum {string} */
            error: "Rate limit exceeded" | "Daily limit exceeded" | "Monthly limit exceeded";
            /** @example Per-minute limit of 60 requests exceeded */
            message: string;
            /**
             * @description Seconds; absent for the month
             * @example 60
             */
            retry_after?: number;
        };
        Error500: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 500;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error503: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 503;
            /** @description More detail on some errors */
            details?: unknown;
            /** @description Seconds */
            retry_after?: number;
        };
        Monitor: {
            /** @example srv_12 */
            id: string;
            name: string;
            /** @enum {string} */
            type: "vpn" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            status: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
            /**
             * @description Always equal to status
             * @enum {string}
             */
            aggregate_status: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
            active: boolean;
            /** @description Seconds between scheduled checks */
            interval: number | null;
            /** @description Addition: a check may take as long as the interval is; absent for heartbeats */
            timeout_follows_interval?: boolean;
            latency_ms: number | null;
            /** @description Tunnels only */
            connect_ms?: number | null;
            region: string | null;
            locations: string[];
            disabled_locations: string[];
            regional_status: {
                [key: string]: components["schemas"]["RegionalStatus"];
            };
            notify_on_partial: boolean;
            tags: string[];
            last_checked: string | null;
            /** @description Addition: the stretch of maintenance that is on or comes next; absent while there is none */
            maintenance?: components["schemas"]["MaintenanceSpan"];
            /** @description Only on monitors imported from a subscription */
            subscription?: components["schemas"]["SubscriptionBlock"];
            /** @description This and the next ten: uptime checks only. A user name and a password in it are never shown (`https://***@host/`), the query only to callers who can edit (`?***` to others), a fragment is not kept. Sent back in PUT, `***` keeps what it stands for, on the same scheme, host and port only */
            url?: string | null;
            host?: string | null;
            domain?: string | null;
            port?: number | null;
            keyword?: string | null;
            invert_keyword?: boolean;
            accepted_statuscodes?: string[];
            certificate?: components["schemas"]["Certificate"] | null;
            ssl_expiration?: number | null;
            domain_expiration?: number | null;
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Heartbeats only, seconds */
            period?: number;
            /** @description Heartbeats only, seconds */
            grace?: number;
            method?: unknown | null;
            headers?: unknown | null;
            body?: (string | null) | null;
            basic_auth_username?: (string | null) | null;
            basic_auth_password?: (string | null) | null;
            bearer_token?: (string | null) | null;
            client_certificate?: (string | null) | null;
            client_key?: (string | null) | null;
            max_redirects?: unknown | null;
            body_regex?: (string | null) | null;
            json_query?: (string | null) | null;
            json_expected?: (string | null) | null;
            verify_certificate?: boolean | null;
            max_response_time?: (number | null) | null;
            invert?: unknown | null;
            record_type?: (("A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA") | null) | null;
            expected?: unknown | null;
            security?: ("auto" | "starttls" | "tls" | "none") | null;
            starttls?: (("smtp" | "imap" | "pop3" | "ftp" | "postgres") | null) | null;
            servername?: (string | null) | null;
            min_version?: (("1.2" | "1.3") | null) | null;
            /** @description Heartbeats only, and only to callers who can edit: a secret */
            heartbeat_url?: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        Error409: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 409;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error413: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 413;
            /** @description More detail on some errors */
            details?: unknown;
        };
        Error422: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 422;
            /** @description More detail on some errors */
            details?: unknown;
        };
        RemovedMonitor: {
            /** @constant */
            success: true;
            /** @example srv_12 */
            id: string;
        };
        HistoryList: {
            /** @example srv_12 */
            server_id: string;
            entries: components["schemas"]["HistoryEntry"][];
            total: number;
        };
        HistoryEntry: {
            /** @example hst_12 */
            id: string;
            /** @enum {string} */
            type: "created" | "updated" | "paused" | "resumed";
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            message: string;
            actor: components["schemas"]["Actor"];
        };
        Actor: {
            /** @enum {string} */
            type: "user" | "system";
            id: number | null;
            name: string | null;
            /** @enum {string} */
            via: "api" | "dashboard" | "system";
            key_id: number | null;
        };
        BulkOutcome: {
            matched: number;
            changed: number;
            unchanged: number;
            /** @description The first 1,000 of those that stay as they are, and why */
            refused: components["schemas"]["BulkRefusal"][];
            /** @description The first ten that match, by name */
            sample: {
                /** @example srv_12 */
                id: string;
                name: string;
            }[];
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        BulkRefusal: {
            /** @example srv_12 */
            id: string;
            name: string;
            message: string;
        };
        Error402: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 402;
            /** @description More detail on some errors */
            details?: unknown;
        };
        MonitorLocations: {
            /** @example srv_12 */
            server_id: string;
            locations: string[];
            disabled_locations: string[];
            notify_on_partial: boolean;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        DocumentPlan: {
            /** @description Of the document */
            name: string;
            /** @description To send as expect */
            hash: string;
            applied: boolean;
            changes: components["schemas"]["DocumentChange"][];
            unchanged: number;
            refused: components["schemas"]["RefusedThing"][];
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        DocumentChange: {
            /** @enum {string} */
            act: "create" | "adopt" | "change" | "replace" | "remove" | "release";
            /** @enum {string} */
            kind: "monitor" | "subscription" | "channel" | "quiet_hours" | "alert_rule" | "maintenance" | "status_page";
            /** @description In the document; an id of what is in none */
            key: string;
            /** @description null: it is not there yet */
            id: string | null;
            name: string;
            fields: components["schemas"]["FieldChange"][];
            /** @description What is lost, or why it changes where the document does not say so */
            note?: string;
        };
        FieldChange: {
            field: string;
            /** @description As it is; absent where it is not shown, or was nothing */
            from?: unknown;
            /** @description As the document has it; absent where it is not shown */
            to?: unknown;
            /**
             * @description Its values are not shown
             * @constant
             */
            secret?: true;
            /**
             * @description It was changed elsewhere since the document was applied
             * @constant
             */
            drift?: true;
        };
        RefusedThing: {
            /** @enum {string} */
            kind: "monitor" | "subscription" | "channel" | "quiet_hours" | "alert_rule" | "maintenance" | "status_page";
            key: string;
            /** @description In the document, such as monitors.shop.type */
            path: string;
            line: number | null;
            message: string;
        };
        FoundMonitorList: {
            servers: components["schemas"]["FoundMonitor"][];
            total: number;
        };
        FoundMonitor: {
            /** @example srv_12 */
            id: string;
            name: string;
            /** @enum {string} */
            type: "vpn" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            status: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
            /**
             * @description Always equal to status
             * @enum {string}
             */
            aggregate_status: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
            active: boolean;
            /** @description Seconds between scheduled checks */
            interval: number | null;
            /** @description Addition: a check may take as long as the interval is; absent for heartbeats */
            timeout_follows_interval?: boolean;
            latency_ms: number | null;
            /** @description Tunnels only */
            connect_ms?: number | null;
            region: string | null;
            locations: string[];
            disabled_locations: string[];
            regional_status: {
                [key: string]: components["schemas"]["RegionalStatus"];
            };
            notify_on_partial: boolean;
            tags: string[];
            last_checked: string | null;
            /** @description Addition: the stretch of maintenance that is on or comes next; absent while there is none */
            maintenance?: components["schemas"]["MaintenanceSpan"];
            /** @description Only on monitors imported from a subscription */
            subscription?: components["schemas"]["SubscriptionBlock"];
            /** @description This and the next ten: uptime checks only. A user name and a password in it are never shown (`https://***@host/`), the query only to callers who can edit (`?***` to others), a fragment is not kept. Sent back in PUT, `***` keeps what it stands for, on the same scheme, host and port only */
            url?: string | null;
            host?: string | null;
            domain?: string | null;
            port?: number | null;
            keyword?: string | null;
            invert_keyword?: boolean;
            accepted_statuscodes?: string[];
            certificate?: components["schemas"]["Certificate"] | null;
            ssl_expiration?: number | null;
            domain_expiration?: number | null;
            ip_version?: ("ipv4" | "ipv6") | null;
            /** @description Heartbeats only, seconds */
            period?: number;
            /** @description Heartbeats only, seconds */
            grace?: number;
            method?: unknown | null;
            headers?: unknown | null;
            body?: (string | null) | null;
            basic_auth_username?: (string | null) | null;
            basic_auth_password?: (string | null) | null;
            bearer_token?: (string | null) | null;
            client_certificate?: (string | null) | null;
            client_key?: (string | null) | null;
            max_redirects?: unknown | null;
            body_regex?: (string | null) | null;
            json_query?: (string | null) | null;
            json_expected?: (string | null) | null;
            verify_certificate?: boolean | null;
            max_response_time?: (number | null) | null;
            invert?: unknown | null;
            record_type?: (("A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA") | null) | null;
            expected?: unknown | null;
            security?: ("auto" | "starttls" | "tls" | "none") | null;
            starttls?: (("smtp" | "imap" | "pop3" | "ftp" | "postgres") | null) | null;
            servername?: (string | null) | null;
            min_version?: (("1.2" | "1.3") | null) | null;
            /** @example prj_12 */
            project_id: string;
            project_name: string;
            organization_id: number;
            organization_name: string;
        };
        Overview: {
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            counts: components["schemas"]["StatusCounts"];
            incidents: components["schemas"]["IncidentCounts"];
            service: components["schemas"]["ServiceAtAGlance"];
            /**
             * @description What ends within 30 days or has ended, of monitors that are not paused: the soonest first, ten seconds old at most
             * @example [
             *       {
             *         "what": "certificate",
             *         "id": 13,
             *         "expires_at": "2026-12-02T00:00:00.000Z"
             *       }
             *     ]
             */
            expiring: components["schemas"]["Expiring"][];
            /**
             * @description A letter for each monitor: h healthy, d down, g degraded, p partial, z paused, u unknown, m in maintenance
             * @example hd
             */
            status: string;
            /**
             * @example [
             *       41,
             *       null
             *     ]
             */
            latency_ms: (number | null)[];
            /**
             * @description Seconds since the latest check; null before the first
             * @example [
             *       7,
             *       12
             *     ]
             */
            checked_s: (number | null)[];
            /**
             * @description Seconds since the status is what it is; null where it is not known
             * @example [
             *       86400,
             *       61
             *     ]
             */
            since_s: (number | null)[];
            /**
             * @example [
             *       "http",
             *       "wireguard"
             *     ]
             */
            kinds: ("wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls")[];
            /**
             * @example [
             *       "blue",
             *       "prod"
             *     ]
             */
            tags: string[];
            subscriptions: components["schemas"]["NamedSubscription"][];
            /**
             * @description Of monitors, without `srv_`
             * @example [
             *       12,
             *       13
             *     ]
             */
            ids: number[];
            /**
             * @example [
             *       "Berlin 1",
             *       "Shop"
             *     ]
             */
            names: string[];
            /**
             * @description Seconds between two checks; of a push monitor, between two calls
             * @example [
             *       60,
             *       300
             *     ]
             */
            interval_s: number[];
            /**
             * @description Places in `kinds`, from 0
             * @example [
             *       1,
             *       0
             *     ]
             */
            kind: number[];
            /**
             * @description Places in `tags`
             * @example [
             *       [
             *         0,
             *         1
             *       ],
             *       []
             *     ]
             */
            tag: number[][];
            /**
             * @description Places in `subscriptions`; null: it follows none
             * @example [
             *       0,
             *       null
             *     ]
             */
            subscription: (number | null)[];
        };
        StatusCounts: {
            healthy: number;
            down: number;
            degraded: number;
            partial: number;
            paused: number;
            unknown: number;
            /** @description In maintenance, and not paused: counted here alone */
            maintenance: number;
        };
        IncidentCounts: {
            active: number;
            unacknowledged: number;
        };
        ServiceAtAGlance: {
            /** @description How late the latest checks of the project's active monitors began, 99th percentile */
            late_p99_ms: number | null;
            /** @description Monitors without a result for two intervals, of the whole service */
            silent: number;
            /** @description Results that wait to be written, of the whole service */
            spool_rows: number;
            /** @description Why results are late or away; null when all is well */
            condition: string | null;
        };
        Expiring: {
            /** @enum {string} */
            what: "certificate";
            /** @description Of the monitor, without `srv_` */
            id: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            expires_at: string;
        };
        NamedSubscription: {
            id: number;
            name: string | null;
        };
        TagList: {
            /**
             * @example [
             *       {
             *         "tag": "prod",
             *         "servers": 12,
             *         "down": 1,
             *         "degraded": 0
             *       }
             *     ]
             */
            tags: components["schemas"]["Tag"][];
            total: number;
        };
        Tag: {
            tag: string;
            servers: number;
            down: number;
            degraded: number;
        };
        ViewList: {
            views: components["schemas"]["View"][];
            total: number;
        };
        View: {
            /** @example viw_12 */
            id: string;
            name: string;
            /**
             * @description As the page's address has it after `?`
             * @example q=status%3Adown
             */
            query: string;
            /** @description Whether it is everyone's in the project */
            shared: boolean;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        RemovedView: {
            /** @constant */
            success: true;
            /** @example viw_12 */
            id: string;
        };
        ResultList: {
            results: components["schemas"]["CheckResult"][];
            /** @enum {string} */
            period: "15m" | "1h" | "24h" | "7d";
            total: number;
        };
        CheckResult: {
            /** @example hb_12 */
            id: string;
            /** @example srv_12 */
            server_id: string;
            server_name: string;
            /** @enum {string} */
            status: "healthy" | "down" | "degraded" | "unknown";
            latency_ms: number | null;
            /** @description Tunnel results only */
            connect_ms?: number | null;
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /**
             * @description YYYY-MM-DD HH:MM:SS, UTC, no zone marker
             * @example 2026-11-21 06:10:00
             */
            tested_at: string;
            error_message: string | null;
            explain?: components["schemas"]["Explain"];
        };
        /** @description Only with `explain=1`; an addition of ours */
        Explain: {
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            started_at: string;
            lateness_ms: number;
            location: string;
            checker: string;
            /** @enum {string} */
            verdict: "ok" | "unresolved" | "unreachable" | "refused" | "timeout" | "closed" | "handshake-failed" | "cert-invalid" | "auth-failed" | "protocol-error" | "rejected" | "stuck" | "incomplete" | "misconfigured" | "unfit" | "unsupported" | "cancelled" | "internal-error";
            attempt: number;
            duration_ms: number;
            error_category: ("server_not_connected" | "internet_stuck" | "timeout" | "auth_failed" | "cert_error" | "config_error" | "dns_error" | "checker_error" | "rejected") | null;
            phases: {
                [key: string]: number;
            };
            stage: ("resolve" | "connect" | "handshake" | "request" | "transfer") | null;
            address: string | null;
            peer: string | null;
            hint: string | null;
        };
        FailureList: {
            failures: components["schemas"]["CheckResult"][];
            /** @enum {string} */
            period: "15m" | "1h" | "24h" | "7d";
            total: number;
        };
        /** @description Columns, oldest first */
        RecentResults: {
            /** @description By `srv_…`; what is not there is left out */
            servers: {
                [key: string]: {
                    /**
                     * @description A letter a result: h healthy, d down, g degraded, u unknown
                     * @example hd
                     */
                    status: string;
                    /**
                     * @example [
                     *       41,
                     *       null
                     *     ]
                     */
                    latency_ms: (number | null)[];
                    /**
                     * @description Whole seconds since its check began
                     * @example [
                     *       61,
                     *       1
                     *     ]
                     */
                    tested_s: number[];
                };
            };
        };
        MonitorResults: {
            /** @example srv_12 */
            server_id: string;
            server_name: string;
            results: components["schemas"]["CheckResult"][];
            /** @enum {string} */
            period: "15m" | "1h" | "24h" | "7d";
            total: number;
            success_rate: number | null;
            /** @description Percent of the period's watched time that the monitor was not down, to three decimals */
            uptime_percent: number | null;
        };
        MonitorDays: {
            /** @example srv_12 */
            server_id: string;
            days: components["schemas"]["MonitorDay"][];
            uptime: components["schemas"]["Uptime"];
        };
        MonitorDay: {
            /**
             * Format: date
             * @example 2026-11-21
             */
            date: string;
            down_s: number;
            degraded_s: number;
            maintenance_s: number;
            paused_s: number;
            /** @description Before the monitor was made, or its first check */
            unwatched_s: number;
            /** @description That were open in it */
            incidents: number;
        };
        /** @description Percent of the watched time that it was not down, to three decimals; null: nothing was watched */
        Uptime: {
            "24h": number | null;
            "7d": number | null;
            "30d": number | null;
            "90d": number | null;
            "365d": number | null;
        };
        ManyDays: {
            /** @description By `srv_…` */
            servers: {
                [key: string]: {
                    days: components["schemas"]["MonitorDay"][];
                    uptime: components["schemas"]["Uptime"];
                };
            };
        };
        /** @description Columns, oldest first; ms to a tenth */
        MonitorLatency: {
            /** @example srv_12 */
            server_id: string;
            step_s: number;
            /** @description Where each step begins; a step without a check is left out */
            t: string[];
            min: (number | null)[];
            avg: (number | null)[];
            p50: (number | null)[];
            p95: (number | null)[];
            max: (number | null)[];
            checks: number[];
            /** @description By the target's fault */
            failed: number[];
            /** @description By a fault of ours */
            ours: number[];
            /** @description Means; none of steps older than a day */
            phases: {
                [key: string]: (number | null)[];
            };
        };
        IncidentList: {
            incidents: components["schemas"]["IncidentRow"][];
            total: number;
            active: number;
        };
        IncidentRow: {
            /** @example inc_12 */
            id: string;
            /** @example srv_12 */
            server_id: string;
            server_name: string;
            /** @enum {string} */
            status: "active" | "recovered";
            /** @enum {string} */
            severity: "critical" | "warning";
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            started_at: string;
            ended_at: string | null;
            acknowledged: boolean;
            acknowledged_at: string | null;
            /** @enum {string} */
            error_type: "down" | "degraded";
            error_message: string;
        };
        AcknowledgedIncidents: {
            /** @description Those that were not acknowledged before */
            acknowledged: number;
            unchanged: number;
            total: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        Incident: {
            /** @example inc_12 */
            id: string;
            /** @example srv_12 */
            server_id: string;
            server_name: string;
            /** @enum {string} */
            status: "active" | "recovered";
            /** @enum {string} */
            severity: "critical" | "warning";
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            started_at: string;
            ended_at: string | null;
            acknowledged: boolean;
            acknowledged_at: string | null;
            /** @enum {string} */
            error_type: "down" | "degraded";
            error_message: string;
            /** @enum {string} */
            type: "vpn" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic" | "http" | "keyword" | "ping" | "port" | "dns" | "push" | "smtp" | "tls";
            duration_seconds: number;
            acknowledged_by: components["schemas"]["Actor"] | null;
            locations: string[];
            error_category: ("server_not_connected" | "internet_stuck" | "timeout" | "auth_failed" | "cert_error" | "config_error" | "dns_error" | "checker_error" | "rejected") | null;
            event_count: number;
            /** @description An addition of ours, in the answer to GET only: what was written afterwards; null: nothing */
            report?: {
                title: string | null;
                postmortem: string | null;
                public: boolean;
            } | null;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        IncidentEventList: {
            /** @example inc_12 */
            incident_id: string;
            events: components["schemas"]["IncidentEvent"][];
            total: number;
        };
        IncidentEvent: {
            /** @example evt_12 */
            id: string;
            /** @enum {string} */
            type: "opened" | "level_changed" | "location_changed" | "acknowledged" | "retest_queued" | "retest_finished" | "alert_sent" | "alert_failed" | "monitor_paused" | "monitor_resumed" | "recovered" | "note";
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            message: string;
            actor: components["schemas"]["Actor"];
            location: string | null;
            data: {
                [key: string]: unknown;
            };
        };
        WrittenNote: {
            /** @example evt_12 */
            id: string;
            /** @example inc_12 */
            incident_id: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            actor: components["schemas"]["Actor"];
            text: string;
            phase: ("investigating" | "identified" | "monitoring" | "resolved") | null;
            public: boolean;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        RemovedNote: {
            /** @constant */
            success: true;
            /** @example evt_12 */
            id: string;
        };
        WrittenReport: {
            /** @example inc_12 */
            incident_id: string;
            title: string | null;
            postmortem: string | null;
            public: boolean;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        MaintenanceList: {
            /** @description Windows of monitors, those of schedules included */
            maintenances: components["schemas"]["Maintenance"][];
            total: number;
            /** @description All of the project, oldest first */
            schedules: components["schemas"]["MaintenanceSchedule"][];
        };
        Maintenance: {
            /** @example mnt_12 */
            id: string;
            /** @example srv_12 */
            server_id: string;
            server_name: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            starts_at: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            ends_at: string;
            /** @enum {string} */
            state: "active" | "next" | "ended";
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        MaintenanceSchedule: {
            /** @example mnt_12 */
            id: string;
            title: string;
            text: string;
            select: {
                [key: string]: unknown;
            };
            schedule: components["schemas"]["MaintenanceTurnsOutput"];
            timezone: string;
            starts_on: string | null;
            ends_on: string | null;
            announce: boolean;
            /** @enum {string} */
            state: "active" | "next" | "ended";
            next_starts_at: string | null;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        PlannedMaintenance: components["schemas"]["CreatedMaintenances"] | components["schemas"]["MaintenanceSchedule"];
        CreatedMaintenances: {
            maintenances: components["schemas"]["Maintenance"][];
            total: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        EndedMaintenance: components["schemas"]["Maintenance"] | components["schemas"]["MaintenanceSchedule"];
        ChannelList: {
            channels: components["schemas"]["Channel"][];
            total: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        Channel: {
            /** @example ch_12 */
            id: string;
            kind: string;
            name: string;
            /** @description As GET /channels/kinds describes them, without what is secret */
            settings: {
                [key: string]: unknown;
            };
            /** @description Secret settings that have a value; of an object each of its names, `secrets.token` */
            has_secret: string[];
            active: boolean;
            /**
             * @description `failing`: its service refused twice in a row or more often, for good; `unverified`: mail addresses that have not confirmed
             * @enum {string}
             */
            state: "ok" | "failing" | "off" | "unverified";
            off_reason: "operator" | null;
            /** @description The first failure since its last success */
            failing_since: string | null;
            last_success_at: string | null;
            /** @description Why its last attempt failed, in the service's words */
            last_error: string | null;
            /** @description Alert rules that tell it; without rules the default one tells every channel */
            used_by_rules: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            updated_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        ChannelKinds: {
            kinds: {
                kind: string;
                name: string;
                summary: string;
                /** @description JSON Schema (2020-12) of `settings`; `x-secret` marks what goes in and never comes out */
                fields: {
                    [key: string]: unknown;
                };
                /** @description Where its settings are described */
                docs: string;
            }[];
            total: number;
        };
        ChannelTest: {
            delivered: boolean;
            /** @description Of the service, HTTP or SMTP; null: it did not answer */
            status_code: number | null;
            /** @description Why not, in the service's words */
            error: string | null;
            duration_ms: number;
            /** @description What was sent, without secrets; empty when nothing was */
            sent: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        ChannelRemoved: {
            /** @constant */
            success: true;
            /** @example ch_12 */
            id: string;
            /**
             * @description Only where a rule has no channel left: which one tells nothing now
             * @example [
             *       "the rule \"Nights\" has no channel left: nothing that it matches is sent"
             *     ]
             */
            warnings?: string[];
        };
        AlertRules: {
            /** @description As it was read; 409 when the list is another by now */
            version: number;
            rules: {
                /** @description 0: the default rule, of a project that has none */
                id: number;
                name: string;
                active: boolean;
                continue: boolean;
                match: {
                    events: ("down" | "login_refused" | "partial" | "configs" | "certificate" | "domain" | "sync" | "channel")[] | null;
                    select: {
                        [key: string]: unknown;
                    } | null;
                    severity: ("critical" | "warning")[] | null;
                };
                channels: string[] | null;
                delay_s: number;
                group_by: string;
                wait_s: number;
                interval_s: number;
                repeat_s: number | null;
                repeat_growth: number;
                recovered: boolean;
                quiet_hours: number | null;
                escalation: {
                    after_s: number;
                    channels: string[];
                    /** @constant */
                    unless: "acknowledged";
                }[];
                template: {
                    title: string | null;
                    summary: string | null;
                } | null;
            }[];
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        AlertPreview: {
            steps: {
                rule: {
                    id: number;
                    name: string;
                };
                matched: boolean;
                because: string;
                channels: {
                    /** @example ch_12 */
                    id: string;
                    kind: string;
                    name: string;
                }[];
                /** @description When the first message goes; null: it does not match */
                after_s: number | null;
                /** @description That time, when it happened now, quiet hours included */
                at: string | null;
            }[];
            /** @description Why no channel is told */
            silent_because: string | null;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        QuietHours: {
            /** @description As it was read; 409 when the list is another by now */
            version: number;
            quiet_hours: {
                id: number;
                name: string;
                timezone: string;
                spans: {
                    days: number[];
                    from: string;
                    to: string;
                }[];
                /** @enum {string} */
                mode: "hold" | "drop";
                let_through: {
                    severity: ("critical" | "warning")[];
                    tags: string[];
                };
            }[];
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        SentAlerts: {
            alerts: {
                channel: {
                    /** @example ch_12 */
                    id: string;
                    kind: string;
                    name: string;
                };
                /** @enum {string} */
                reason: "opened" | "raised" | "changed" | "acknowledged" | "reminder" | "recovered" | "notice" | "digest";
                /** @enum {string} */
                state: "pending" | "delivered" | "failed" | "overtaken" | "cancelled";
                /** @description As it was sent last */
                title: string | null;
                attempts: {
                    /**
                     * @description ISO 8601, UTC, with milliseconds
                     * @example 2026-11-21T06:10:00.000Z
                     */
                    at: string;
                    status_code: number | null;
                    error: string | null;
                    duration_ms: number;
                }[];
                last_error: string | null;
                /**
                 * @description ISO 8601, UTC, with milliseconds
                 * @example 2026-11-21T06:10:00.000Z
                 */
                created_at: string;
                sent_at: string | null;
                next_attempt_at: string | null;
            }[];
            total: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        DeletedMaintenance: {
            /** @constant */
            success: true;
            /** @example mnt_12 */
            id: string;
        };
        StatusPageList: {
            status_pages: components["schemas"]["StatusPageRow"][];
            total: number;
        };
        StatusPageRow: {
            /** @example spg_12 */
            id: string;
            slug: string;
            title: string;
            published: boolean;
            listed: boolean;
            domains: string[];
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            updated_at: string;
            access: {
                /** @enum {string} */
                type: "public" | "link" | "password" | "session";
            };
        };
        StatusPage: {
            /** @example spg_12 */
            id: string;
            slug: string;
            title: string;
            published: boolean;
            listed: boolean;
            domains: string[];
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            updated_at: string;
            text: string;
            index: boolean;
            access: {
                /** @enum {string} */
                type: "public" | "link" | "password" | "session";
                /** @description Of the access `link`, for those who may edit: the address that lets readers in */
                url?: string;
            };
            timezone: string;
            language: string;
            /** @enum {string} */
            theme: "auto" | "light" | "dark";
            accent: string;
            logo: string | null;
            css: string | null;
            links: {
                home: string | null;
                contact: string | null;
            };
            /** @enum {string} */
            frame: "none" | "self" | "*";
            days: number;
            show: {
                uptime: boolean;
                latency: boolean;
                certificate: boolean;
                incidents_days: number;
            };
            groups: components["schemas"]["StatusPageGroup"][];
            /** @description Address of the badge of the whole page, without what it shows: `/status.svg` */
            badge: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        StatusPageGroup: {
            title: string;
            /** @enum {string} */
            open: "problems" | "always" | "never";
            components: components["schemas"]["StatusPageComponent"][];
        };
        StatusPageComponent: {
            /** @description Which monitors: a selector, as `POST /servers/bulk` has it */
            servers: {
                [key: string]: unknown;
            };
            title: string | null;
            text: string;
            /** @enum {string} */
            merge: "each" | "worst" | "share";
        };
        RemovedStatusPage: {
            /** @constant */
            success: true;
            /** @example spg_12 */
            id: string;
        };
        StatusPageUpdateList: {
            updates: components["schemas"]["StatusPageUpdate"][];
            total: number;
        };
        StatusPageUpdate: {
            /** @example spu_12 */
            id: string;
            /** @enum {string} */
            level: "info" | "maintenance" | "warning" | "outage" | "resolved";
            title: string;
            text: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            ends_at: string | null;
            actor: components["schemas"]["Actor"];
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        RemovedStatusPageUpdate: {
            /** @constant */
            success: true;
            /** @example spu_12 */
            id: string;
        };
        WebhookList: {
            webhooks: components["schemas"]["Webhook"][];
            total: number;
        };
        Webhook: {
            id: number;
            /** @example prj_12 */
            project_id: string;
            /** @description Scheme and host: the rest is a password in most services */
            url: string;
            /** @description null: every type, those of later versions included */
            events: ("monitor.paused" | "monitor.resumed" | "monitor.partial" | "monitor.certificate_expiring" | "monitor.domain_expiring" | "monitor.configs_failing" | "monitor.configs_recovered" | "incident.opened" | "incident.level_changed" | "incident.recovered" | "incident.acknowledged" | "subscription.sync_failed" | "subscription.auto_disabled" | "channel.failing" | "webhook.test")[] | null;
            active: boolean;
            off_reason: ("gone" | "failing" | "operator") | null;
            off_at: string | null;
            failing_since: string | null;
            last_success_at: string | null;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        CreatedWebhook: {
            id: number;
            /** @example prj_12 */
            project_id: string;
            /** @description Scheme and host: the rest is a password in most services */
            url: string;
            /** @description null: every type, those of later versions included */
            events: ("monitor.paused" | "monitor.resumed" | "monitor.partial" | "monitor.certificate_expiring" | "monitor.domain_expiring" | "monitor.configs_failing" | "monitor.configs_recovered" | "incident.opened" | "incident.level_changed" | "incident.recovered" | "incident.acknowledged" | "subscription.sync_failed" | "subscription.auto_disabled" | "channel.failing" | "webhook.test")[] | null;
            active: boolean;
            off_reason: ("gone" | "failing" | "operator") | null;
            off_at: string | null;
            failing_since: string | null;
            last_success_at: string | null;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description Shown once
             * @example whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=
             */
            secret: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        DeletedWebhook: {
            /** @constant */
            success: true;
            id: number;
        };
        RotatedWebhook: {
            id: number;
            /**
             * @description Shown once
             * @example whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=
             */
            secret: string;
            /**
             * @description Until then the one before signs too
             * @example 2026-11-21T06:10:00.000Z
             */
            old_secret_until: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        WebhookQueued: {
            id: number;
            /** @constant */
            queued: true;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        WebhookDeliveryList: {
            webhook_id: number;
            deliveries: components["schemas"]["WebhookDelivery"][];
            total: number;
        };
        WebhookDelivery: {
            /** @description The `webhook-id` of each attempt */
            id: string;
            /** @enum {string} */
            type: "monitor.paused" | "monitor.resumed" | "monitor.partial" | "monitor.certificate_expiring" | "monitor.domain_expiring" | "monitor.configs_failing" | "monitor.configs_recovered" | "incident.opened" | "incident.level_changed" | "incident.recovered" | "incident.acknowledged" | "subscription.sync_failed" | "subscription.auto_disabled" | "channel.failing" | "webhook.test";
            /** @enum {string} */
            state: "pending" | "delivered" | "failed" | "cancelled";
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            ended_at: string | null;
            next_attempt_at: string | null;
            /** @description Oldest first */
            attempts: components["schemas"]["WebhookAttempt"][];
        };
        WebhookAttempt: {
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            status_code: number | null;
            error: string | null;
            duration_ms: number;
        };
        ConvertedImport: {
            /** @description YAML for `sonde apply`, with the secrets of the source */
            document: string;
            report: {
                source: string;
                /** @description Things of each section; `incomplete`: monitors that come over paused */
                counts: {
                    [key: string]: number;
                };
                notes: {
                    /** @enum {string} */
                    level: "lost" | "changed" | "info";
                    /** @description What it is about, in the words of the source */
                    path: string;
                    message: string;
                }[];
                /** @description Notes that are not listed */
                more_notes: number;
            };
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        ExportedDocument: {
            /** @description Of the document; null: all of the project */
            name: string | null;
            /** @description The document, YAML */
            document: string;
            /** @description What is to be in the environment of sonde apply */
            secrets: {
                /** @description Of the variable that stands for it */
                name: string;
                /** @description Where it stands */
                path: string[];
            }[];
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        SubscriptionList: {
            subscriptions: components["schemas"]["Subscription"][];
            total: number;
        };
        /** @description Its URL is never returned */
        Subscription: {
            id: number;
            projectId: number;
            name: string | null;
            /** @description Seconds between syncs */
            syncIntervalSec: number;
            /** @description Seconds each server's test may take */
            timeoutSeconds: number;
            /** @description Servers tested at the same time */
            maxWorkers: number;
            /** @description A monitor of several configs alerts when a smaller share of them works; 0 is never */
            configAlertPercent: number;
            /**
             * @description Engines tried per config
             * @enum {string}
             */
            engine: "both" | "xray" | "singbox";
            enabled: boolean;
            /** @description null before the first sync */
            lastSyncedAt: string | null;
            /** @description Servers found in the last sync */
            lastServerCount: number | null;
            lastSyncStatus: ("pending" | "success" | "failed" | "auto_disabled") | null;
            syncErrorMessage: string | null;
            /**
             * @description YYYY-MM-DD HH:MM:SS, UTC, no zone marker
             * @example 2026-11-21 06:10:00
             */
            createdAt: string;
            /**
             * @description YYYY-MM-DD HH:MM:SS, UTC, no zone marker
             * @example 2026-11-21 06:10:00
             */
            updatedAt: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        RemovedSubscription: {
            /** @constant */
            success: true;
            /** @description Monitors that it had imported: they are kept, paused */
            paused_monitors: number;
        };
        StartedSync: {
            subscription_id: number;
            /** @constant */
            status: "syncing";
            /** @enum {string} */
            message: "Sync started" | "A sync is already running";
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        SubscriptionConfigList: {
            configs: components["schemas"]["SubscriptionConfig"][];
            /** @description With the status that was asked for */
            total: number;
            /** @description Of all */
            healthy: number;
        };
        SubscriptionConfig: {
            /** @example srv_12 */
            server_id: string;
            /** @description Its name in the subscription */
            tag: string;
            /** @description Its protocol, such as vless */
            type: string;
            server: string;
            port: number;
            success: boolean;
            /** @description Of its last check; null before the first */
            total_ms: number | null;
            error: string;
            error_category: string;
            /** @description Where traffic left from when the check passed */
            public_ip: string;
            /** @description Where that is, ISO 3166-1 alpha-2; empty where it is not known */
            country: string;
            engine_used: string;
            /** @description Whether it passed when it was last tested from there, by location */
            locations: {
                [key: string]: boolean;
            };
            checked_at: string | null;
        };
        Test: {
            /**
             * @description Cannot be looked up
             * @example tst_Vw3kQ9cZ1mXt7RbN
             */
            test_id: string;
            /** @example srv_12 */
            server_id: string;
            /** @enum {string} */
            status: "healthy" | "down" | "degraded";
            latency_ms: number | null;
            connect_ms: number | null;
            error_message: string | null;
            /**
             * @description YYYY-MM-DD HH:MM:SS, UTC, no zone marker
             * @example 2026-11-21 06:10:00
             */
            tested_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        PendingTest: {
            /**
             * @description Cannot be looked up
             * @example tst_Vw3kQ9cZ1mXt7RbN
             */
            test_id: string;
            /** @example srv_12 */
            server_id: string;
            /** @constant */
            status: "pending";
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            tested_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        Batch: {
            /**
             * @description Cannot be looked up
             * @example bat_Vw3kQ9cZ1mXt7RbN
             */
            batch_id: string;
            results: components["schemas"]["BatchGroup"][];
            skipped: components["schemas"]["SkippedTest"][];
            /** @description Monitors in the request, skipped ones included; each once */
            total: number;
            /** @description Tests queued */
            successful: number;
            /** @description Tests that could not be queued */
            failed: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        BatchGroup: {
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";
            /** @description The queue's job for this protocol; null when nothing was queued */
            batch_id: string | null;
            /** @description Monitors of this protocol in the group */
            count: number;
            /** @description Why queuing failed, when it did */
            reason?: string;
        };
        SkippedTest: {
            /** @example srv_12 */
            server_id: string;
            /** @enum {string} */
            reason: "paused" | "not_a_tunnel";
        };
        Retest: {
            /**
             * @description Cannot be looked up
             * @example tst_Vw3kQ9cZ1mXt7RbN
             */
            test_id: string;
            /** @example inc_12 */
            incident_id: string;
            /** @constant */
            status: "pending";
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        ConfigCheck: {
            /**
             * @description Cannot be looked up
             * @example tst_Vw3kQ9cZ1mXt7RbN
             */
            test_id: string;
            /**
             * @description Whether the tunnel came up
             * @enum {string}
             */
            status: "healthy" | "down";
            /** @enum {string} */
            protocol: "wireguard" | "amneziawg" | "openvpn" | "openconnect" | "ikev2" | "vless" | "vmess" | "trojan" | "shadowsocks" | "hysteria2" | "tuic";
            /** @description Whether the protocol came from a share link */
            config_detected: boolean;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            tested_at: string;
            latency_ms: number | null;
            connect_ms: number | null;
            connection_time_ms: number | null;
            handshake_time_ms: number | null;
            assigned_ip: string | null;
            error_message: string | null;
            error_category: ("server_not_connected" | "internet_stuck" | "timeout" | "auth_failed" | "cert_error" | "config_error" | "dns_error" | "checker_error" | "rejected") | null;
            engine_used: ("xray" | "singbox") | null;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        Error502: {
            /** @constant */
            error: true;
            /** @description What went wrong */
            message: string;
            /**
             * @description The HTTP status, repeated
             * @constant
             */
            code: 502;
            /** @description More detail on some errors */
            details?: unknown;
        };
        PublicLimitError: {
            /** @constant */
            error: "Public check limit exceeded";
            /** @example Limit of 5 checks per 24 hours exceeded */
            message: string;
            /**
             * @description Seconds
             * @example 5400
             */
            retry_after: number;
        };
        Whoami: {
            user: {
                id: number;
                name: string | null;
                email: string;
            };
            /** @description null for a session of the page that a sign-in link began */
            key: {
                id: number;
                name: string;
                /** @enum {string} */
                kind: "workspace" | "account";
                /** @description null for an account-wide key */
                organization_id: number | null;
                expires: string | null;
            } | null;
            organizations: {
                /** @example 3 */
                id: number;
                name: string;
                /**
                 * @description The caller's role there
                 * @enum {string}
                 */
                role: "owner" | "admin" | "manager" | "viewer";
                /** @enum {string} */
                plan: "free" | "starter" | "pro" | "business";
            }[];
            projects: {
                /** @example prj_12 */
                id: string;
                name: string;
                /** @example 3 */
                organization_id: number;
                /**
                 * @description The caller's role there
                 * @enum {string}
                 */
                role: "owner" | "admin" | "manager" | "viewer";
            }[];
            /** @example 3 */
            default_organization_id: number;
            /** @description Oldest active project of the default workspace */
            default_project_id: string | null;
        };
        OrganizationList: {
            organizations: components["schemas"]["Organization"][];
            total: number;
        };
        Organization: {
            /** @example 3 */
            id: number;
            name: string;
            /**
             * @description The caller's role there
             * @enum {string}
             */
            role: "owner" | "admin" | "manager" | "viewer";
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "business";
            api_access: boolean;
            /** @description Active projects that the key reaches */
            project_count: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
        };
        OrganizationDetails: {
            /** @example 3 */
            id: number;
            name: string;
            /**
             * @description The caller's role there
             * @enum {string}
             */
            role: "owner" | "admin" | "manager" | "viewer";
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "business";
            api_access: boolean;
            /** @description Active projects that the key reaches */
            project_count: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            suspended: boolean;
            /** @description Monitors of both families in its active projects */
            server_count: number;
            member_count: number;
            tunnel_slots: {
                used: number;
                /** @description null is unlimited */
                limit: number | null;
            };
            limits: {
                /** @description null is unlimited */
                requests_per_minute: number | null;
                /** @description null is unlimited */
                requests_per_day: number | null;
                /** @description null is unlimited */
                requests_per_month: number | null;
                /** @description null is unlimited */
                on_demand_tests_per_month: number | null;
                /** @description Seconds between checks */
                shortest_interval: number;
                /** @description Seconds between the calls of a heartbeat */
                shortest_period: number;
                region_targeting: boolean;
            };
        };
        ProjectList: {
            projects: components["schemas"]["Project"][];
            total: number;
        };
        Project: {
            /** @example prj_12 */
            id: string;
            name: string;
            /** @example 3 */
            organization_id: number;
            organization_name: string;
            /**
             * @description The caller's role there
             * @enum {string}
             */
            role: "owner" | "admin" | "manager" | "viewer";
            /** @description Monitors of both families */
            server_count: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
        };
        KeyUsage: {
            key_id: number;
            today: {
                requests: number;
                errors: number;
            };
            last_7_days: {
                requests: number;
                errors: number;
            };
            last_30_days: {
                requests: number;
                errors: number;
            };
            /** @description The last 30 days, busiest first */
            endpoints: {
                /** @enum {string} */
                method: "GET" | "POST" | "PUT" | "DELETE";
                /**
                 * @description Pattern of the route
                 * @example /servers/{id}
                 */
                path: string;
                requests: number;
                errors: number;
            }[];
        };
        Usage: {
            /** @example 3 */
            organization_id: number;
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "business";
            this_minute: components["schemas"]["UsageWindow"];
            today: components["schemas"]["UsageWindow"];
            this_month: components["schemas"]["UsageWindow"];
            on_demand_tests: components["schemas"]["UsageWindow"];
            /** @description The last 30 UTC days, today included, oldest first */
            daily: {
                /**
                 * Format: date
                 * @example 2026-11-21
                 */
                date: string;
                requests: number;
                /** @description Answers of 400 and above */
                errors: number;
            }[];
            /** @description The last 30 days, busiest first */
            endpoints: {
                /** @enum {string} */
                method: "GET" | "POST" | "PUT" | "DELETE";
                /**
                 * @description Pattern of the route
                 * @example /servers/{id}
                 */
                path: string;
                requests: number;
                errors: number;
            }[];
        };
        UsageWindow: {
            used: number;
            /** @description null is unlimited */
            limit: number | null;
            /** @description Never negative; null is unlimited */
            remaining: number | null;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            resets_at: string;
        };
        KeyList: {
            keys: components["schemas"]["Key"][];
            total: number;
        };
        Key: {
            /** @example 31 */
            id: number;
            name: string;
            /** @description The key's owner */
            userID: number;
            /** @description The workspace; null for an account-wide key */
            organizationId: number | null;
            /**
             * @description YYYY-MM-DD HH:MM:SS, UTC, no zone marker
             * @example 2026-11-21 06:10:00
             */
            createdDate: string;
            /** @description null: never */
            expires: string | null;
            /** @description May lag by a minute */
            lastUsedAt: string | null;
            /** @enum {string} */
            status: "active" | "inactive" | "expired";
            /** @description 1 is switched on */
            active: number;
        };
        CreatedKey: {
            /** @example 31 */
            id: number;
            name: string;
            /** @description The key's owner */
            userID: number;
            /** @description The workspace; null for an account-wide key */
            organizationId: number | null;
            /**
             * @description YYYY-MM-DD HH:MM:SS, UTC, no zone marker
             * @example 2026-11-21 06:10:00
             */
            createdDate: string;
            /** @description null: never */
            expires: string | null;
            /** @description May lag by a minute */
            lastUsedAt: string | null;
            /** @enum {string} */
            status: "active" | "inactive" | "expired";
            /** @constant */
            active: true;
            /**
             * @description The whole secret, shown once
             * @example uk31_0123456789abcdefghijklmnopqrstuvwxyzABCD
             */
            key: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        RevokedKey: {
            /** @constant */
            success: true;
            /** @example 31 */
            id: number;
            /** @description null after deletion */
            status: ("inactive" | "expired") | null;
            deleted: boolean;
        };
        AuditList: {
            entries: components["schemas"]["AuditEntry"][];
            total: number;
        };
        AuditEntry: {
            /** @example aud_12 */
            id: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            actor: components["schemas"]["Actor"];
            /**
             * @description `<thing>.<participle>`
             * @example monitor.deleted
             */
            what: string;
            subject: {
                /** @example monitor */
                type: string;
                /** @description null: several */
                id: string | null;
                name: string | null;
            };
            /** @description Names of fields, counts, words; never a value that was sent */
            detail: {
                [key: string]: unknown;
            };
            project_id: string | null;
            /** @description Of the caller */
            address: string | null;
        };
        MemberList: {
            members: components["schemas"]["Member"][];
            total: number;
        };
        Member: {
            /** @description Of the user */
            id: number;
            name: string | null;
            email: string;
            /** @enum {string} */
            role: "owner" | "admin" | "manager" | "viewer";
            /**
             * @description When the membership began
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        InvitedMember: {
            /** @description Of the user */
            id: number;
            name: string | null;
            email: string;
            /** @enum {string} */
            role: "owner" | "admin" | "manager" | "viewer";
            /**
             * @description When the membership began
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /** @description Signs the person in once, within ten minutes; null: the person belongs to another workspace too, and signs in as ever */
            link: string | null;
            /** @description Of the link */
            expires_at: string | null;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        RemovedMember: {
            /** @constant */
            success: true;
            id: number;
        };
        Session: {
            user: {
                id: number;
                name: string | null;
                email: string;
            };
            organizations: {
                /** @example 3 */
                id: number;
                name: string;
                /**
                 * @description The caller's role there
                 * @enum {string}
                 */
                role: "owner" | "admin" | "manager" | "viewer";
                /** @enum {string} */
                plan: "free" | "starter" | "pro" | "business";
            }[];
            projects: {
                /** @example prj_12 */
                id: string;
                name: string;
                /** @example 3 */
                organization_id: number;
                /**
                 * @description The caller's role there
                 * @enum {string}
                 */
                role: "owner" | "admin" | "manager" | "viewer";
            }[];
            /** @example 3 */
            default_organization_id: number;
            /** @description Oldest active project of the default workspace */
            default_project_id: string | null;
            /**
             * @description When it ends if it is not used until then
             * @example 2026-11-21T06:10:00.000Z
             */
            expires_at: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        SignedOut: {
            /** @constant */
            success: true;
        };
        SessionList: {
            sessions: components["schemas"]["SessionEntry"][];
            total: number;
        };
        SessionEntry: {
            id: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /**
             * @description May lag by a minute
             * @example 2026-11-21T06:10:00.000Z
             */
            seen_at: string;
            /** @description Where it began */
            address: string;
            /**
             * @description Browser and system, as they call themselves
             * @example Firefox on Linux
             */
            device: string;
            /** @description Whether it is the one that asks */
            current: boolean;
            /**
             * @description How the person signed in
             * @enum {string}
             */
            via: "key" | "link" | "oidc" | "passkey";
        };
        EndedSessions: {
            /** @constant */
            success: true;
            /** @description How many sessions ended */
            ended: number;
        };
        SignInWays: {
            /** @description The provider of identities; null: none is set up */
            oidc: {
                /**
                 * @description Its host
                 * @example login.test-site.org
                 */
                name: string;
            } | null;
            /** @description Whether passkeys can be used here */
            passkeys: boolean;
        };
        ProviderSignIn: {
            /** @description Where the person signs in */
            url: string;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        PasskeyChallenge: {
            challenge: string;
            /** @description Whose passkeys they are: the host of the page */
            rp_id: string;
            timeout_ms: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        PasskeyList: {
            passkeys: components["schemas"]["Passkey"][];
            total: number;
        };
        Passkey: {
            id: number;
            name: string;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            created_at: string;
            /** @description When it signed in last; null: never */
            used_at: string | null;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
        };
        NewPasskeyChallenge: {
            challenge: string;
            /** @description Whose passkeys they are: the host of the page */
            rp_id: string;
            timeout_ms: number;
            /**
             * @description Only in answers to POST and PUT, and only where something that was sent is ignored: what it was
             * @example [
             *       "unknown field \"intervall\" was ignored; did you mean \"interval\"?"
             *     ]
             */
            warnings?: string[];
            user: {
                id: string;
                name: string;
                display_name: string;
            };
            /** @description Ids of credentials that the person has */
            exclude: string[];
        };
        RemovedPasskey: {
            /** @constant */
            success: true;
            id: number;
        };
        Health: {
            /** @constant */
            status: "ok";
            version: string;
            uptime: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            timestamp: string;
        };
        DeepHealth: {
            /** @constant */
            status: "ok";
            version: string;
            uptime: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            timestamp: string;
            checks: components["schemas"]["HealthChecks"];
            warnings?: ("location_troubled" | "rows_set_aside" | "checkers_idle" | "results_unwritten" | "reads_refused" | "clock_off" | "results_waiting")[];
        };
        HealthChecks: {
            database: components["schemas"]["HealthComponent"];
            queue: components["schemas"]["HealthComponent"];
        };
        HealthComponent: {
            /** @enum {string} */
            status: "ok" | "error";
            latency_ms: number | null;
        };
        FailedHealth: {
            /** @constant */
            error: true;
            /** @constant */
            code: 503;
            /** @constant */
            message: "Health check failed";
            details: {
                checks: components["schemas"]["HealthChecks"];
                warnings?: ("location_troubled" | "rows_set_aside" | "checkers_idle" | "results_unwritten" | "reads_refused" | "clock_off" | "results_waiting")[];
            };
        };
        RegionList: {
            regions: components["schemas"]["Region"][];
            total: number;
        };
        Region: {
            code: string;
            name: string;
            healthy_checkers: number;
            available: boolean;
        };
        HeartbeatTaken: {
            /** @constant */
            ok: true;
        };
        HeartbeatRefused: {
            /** @constant */
            ok: false;
            msg: string;
        };
        Service: {
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            at: string;
            version: string;
            /**
             * @description Of the process that answers
             * @example 2026-11-21T06:10:00.000Z
             */
            started_at: string;
            /** @enum {string} */
            http_server: "net" | "node";
            /** @enum {string} */
            database: "sqlite" | "postgres";
            /** @description null: it answers */
            database_trouble: string | null;
            /** @description null: it answers */
            queue_trouble: string | null;
            /** @description Why results are late or away; null: all is well */
            condition: string | null;
            warnings_of_service: ("location_troubled" | "rows_set_aside" | "checkers_idle" | "results_unwritten" | "reads_refused" | "clock_off" | "results_waiting")[];
            schedulers: components["schemas"]["ServiceScheduler"][];
            /** @description Shards that no scheduler holds: their monitors are not checked */
            free_shards: number;
            /** @description Turns that no prober ran, since the database was made */
            skipped_turns: number;
            checkers: components["schemas"]["ServiceLocation"][];
            /** @description Messages to webhooks that wait */
            waiting_deliveries: number;
        };
        ServiceScheduler: {
            name: string;
            shards: number;
            monitors: number;
            running: number;
            waiting: number;
            silent_monitors: number;
            /** @description Since it started */
            skipped_turns: number;
            spool_rows: number;
            trouble: string | null;
        };
        ServiceLocation: {
            code: string;
            healthy_checkers: number;
            /** @description Checkers of other machines; empty where the service checks by itself */
            machines: components["schemas"]["ServiceMachine"][];
        };
        ServiceMachine: {
            name: string;
            version: string;
            /** @description Gets runs: it reports, its clock is right, it is not leaving */
            healthy: boolean;
            /** @description Trusts its own measurements */
            fit: boolean;
            /** @description Why it does not; empty when fit */
            reasons: string[];
            /** @description Its clock minus the queue's */
            clock_offset_ms: number;
            running: number;
            /** @description Checks that it runs at the same time */
            room: number;
            /**
             * @description ISO 8601, UTC, with milliseconds
             * @example 2026-11-21T06:10:00.000Z
             */
            seen_at: string;
        };
        /** @description Once, some days of the week, or by a cron pattern */
        MaintenanceTurnsOutput: components["schemas"]["MaintenanceOnceOutput"] | components["schemas"]["MaintenanceWeeklyOutput"] | components["schemas"]["MaintenanceCronOutput"];
        MaintenanceOnceOutput: {
            /** @constant */
            type: "once";
            /** @description ISO time */
            starts_at: string;
            /** @description ISO time */
            ends_at: string;
        };
        MaintenanceWeeklyOutput: {
            /** @constant */
            type: "weekly";
            /** @description 1 is Monday, 7 Sunday */
            days: number[];
            /**
             * @description Local time, HH:MM
             * @example 02:00
             */
            from: string;
            /** @description How long a turn is */
            minutes: number;
        };
        MaintenanceCronOutput: {
            /** @constant */
            type: "cron";
            /**
             * @description Five fields, local time
             * @example 0 2 1 * *
             */
            cron: string;
            /** @description How long a turn is */
            minutes: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listMonitors: {
        parameters: {
            query?: {
                family?: "tunnel" | "uptime" | "all";
                /** @description Only monitors that are not paused. `1` or `true` is on; anything else is off. */
                active_only?: string;
                status?: "healthy" | "down" | "partial" | "degraded" | "paused" | "unknown";
                /** @description Only monitors of this protocol or uptime type. */
                protocol?: string;
                /** @description Only monitors whose name contains the text, whatever its case. */
                name?: string;
                /** @description Another name of `name`, which wins. */
                search?: string;
                /** @description Another name of `search`, which wins. */
                q?: string;
                /** @description Only monitors that have all of these tags: sent once for each. An addition of ours, as the next four. */
                tag?: string[];
                /** @description Only these monitors, `srv_<n>` or `<n>`, between commas. */
                ids?: string;
                /** @description Only monitors that follow this subscription. */
                subscription_id?: string;
                sort?: "name" | "status" | "latency" | "checked";
                order?: "asc" | "desc";
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
                /** @description Adds `lateness_ms` to each row; an addition of ours. `1` or `true` is on; anything else is off. */
                explain?: string;
            };
        };
        responses: {
            /** @description List monitors, sorted by name */
            200: {
                content: {
                    "application/json": components["schemas"]["MonitorList"];
                };
            };
        };
    };
    createMonitor: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMonitor"];
            };
        };
        responses: {
            /** @description Create a monitor and queue its first check */
            200: {
                content: {
                    "application/json": components["schemas"]["Monitor"];
                };
            };
        };
    };
    getMonitor: {
        parameters: {
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Read a monitor */
            200: {
                content: {
                    "application/json": components["schemas"]["Monitor"];
                };
            };
        };
    };
    updateMonitor: {
        parameters: {
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMonitor"];
            };
        };
        responses: {
            /** @description Change the fields that are sent */
            200: {
                content: {
                    "application/json": components["schemas"]["Monitor"];
                };
            };
        };
    };
    deleteMonitor: {
        parameters: {
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Delete a monitor with its results and incidents */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedMonitor"];
                };
            };
        };
    };
    listMonitorHistory: {
        parameters: {
            query?: {
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description What was done to a monitor, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["HistoryList"];
                };
            };
        };
    };
    changeMonitors: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkAct"];
            };
        };
        responses: {
            /** @description Pause, resume, delete, change or check many monitors */
            200: {
                content: {
                    "application/json": components["schemas"]["BulkOutcome"];
                };
            };
        };
    };
    getMonitorLocations: {
        parameters: {
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Read where a monitor is checked from */
            200: {
                content: {
                    "application/json": components["schemas"]["MonitorLocations"];
                };
            };
        };
    };
    updateMonitorLocations: {
        parameters: {
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateLocations"];
            };
        };
        responses: {
            /** @description Choose where a monitor is checked from */
            200: {
                content: {
                    "application/json": components["schemas"]["MonitorLocations"];
                };
            };
        };
    };
    applyDocument: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApplyDocument"];
            };
        };
        responses: {
            /** @description Compare a document with what there is, and make it so */
            200: {
                content: {
                    "application/json": components["schemas"]["DocumentPlan"];
                };
            };
        };
    };
    searchMonitors: {
        parameters: {
            query?: {
                /** @description Text in the name, the host or a tag, or a whole monitor id. Required, 1 to 255 characters. */
                q?: string;
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
        };
        responses: {
            /** @description Search monitors across every project the key can reach */
            200: {
                content: {
                    "application/json": components["schemas"]["FoundMonitorList"];
                };
            };
        };
    };
    getOverview: {
        parameters: { query?: never };
        responses: {
            /** @description Every monitor of a project, as columns */
            200: {
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    listTags: {
        parameters: { query?: never };
        responses: {
            /** @description List the tags of a project's monitors, with how many are down */
            200: {
                content: {
                    "application/json": components["schemas"]["TagList"];
                };
            };
        };
    };
    listViews: {
        parameters: { query?: never };
        responses: {
            /** @description List saved views: the person's own, and those of everyone in the project */
            200: {
                content: {
                    "application/json": components["schemas"]["ViewList"];
                };
            };
        };
    };
    saveView: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveView"];
            };
        };
        responses: {
            /** @description Save a view; it takes the place of one with the same name */
            200: {
                content: {
                    "application/json": components["schemas"]["View"];
                };
            };
        };
    };
    removeView: {
        parameters: {
            path: {
                /** @description View id, `viw_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Remove a saved view */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedView"];
                };
            };
        };
    };
    followProject: {
        parameters: {
            query?: {
                /** @description The project, `prj_<n>` or `<n>`, where X-Project-Id cannot be sent: an EventSource sends no headers. */
                project?: string;
                /** @description Monitors whose every check is told, `srv_<n>` or `<n>`, between commas. */
                watch?: string;
            };
        };
        responses: {
            /** @description What changes in a project, as server-sent events */
            200: {
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    listResults: {
        parameters: {
            query?: {
                period?: "15m" | "1h" | "24h" | "7d";
                /** @description How many to return. */
                limit?: number;
                /** @description Adds `explain` to each row: lateness, location, checker, verdict, phases, why it failed; an addition of ours. `1` or `true` is on; anything else is off. */
                explain?: string;
            };
        };
        responses: {
            /** @description Results of the project, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["ResultList"];
                };
            };
        };
    };
    listFailures: {
        parameters: {
            query?: {
                period?: "15m" | "1h" | "24h" | "7d";
                /** @description How many to return. */
                limit?: number;
                /** @description Adds `explain` to each row: lateness, location, checker, verdict, phases, why it failed; an addition of ours. `1` or `true` is on; anything else is off. */
                explain?: string;
            };
        };
        responses: {
            /** @description Results of the project that were down, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["FailureList"];
                };
            };
        };
    };
    listRecentResults: {
        parameters: {
            query?: {
                /** @description Monitors whose results are wanted, separated by commas. */
                ids?: string;
                /** @description How many of each. */
                limit?: number;
            };
        };
        responses: {
            /** @description The newest results of many monitors, as columns */
            200: {
                content: {
                    "application/json": components["schemas"]["RecentResults"];
                };
            };
        };
    };
    listMonitorResults: {
        parameters: {
            query?: {
                period?: "15m" | "1h" | "24h" | "7d";
                /** @description How many to return. */
                limit?: number;
                /** @description Adds `explain` to each row: lateness, location, checker, verdict, phases, why it failed; an addition of ours. `1` or `true` is on; anything else is off. */
                explain?: string;
                /** @description How many matching ones to skip. */
                offset?: number;
                status?: "healthy" | "down" | "degraded" | "up";
            };
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Results of one monitor, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["MonitorResults"];
                };
            };
        };
    };
    getMonitorDays: {
        parameters: {
            query?: {
                /** @description How many days, the running one included. */
                days?: number;
            };
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description A monitor day by day, and its uptime */
            200: {
                content: {
                    "application/json": components["schemas"]["MonitorDays"];
                };
            };
        };
    };
    listDays: {
        parameters: {
            query?: {
                /** @description Monitors whose days are wanted, between commas. */
                ids?: string;
                /** @description How many days, the running one included. */
                days?: number;
            };
        };
        responses: {
            /** @description Many monitors day by day, and their uptime */
            200: {
                content: {
                    "application/json": components["schemas"]["ManyDays"];
                };
            };
        };
    };
    getMonitorLatency: {
        parameters: {
            query?: {
                /** @description Checks that began then or later; 24 hours before `to` when absent. */
                from?: string;
                /** @description Checks that began before; now when absent. */
                to?: string;
                /** @description Seconds of a point; chosen by the length when absent. */
                step?: number;
                /** @description Only checks from there. */
                location?: string;
            };
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description What a monitor's checks took, as columns */
            200: {
                content: {
                    "application/json": components["schemas"]["MonitorLatency"];
                };
            };
        };
    };
    listIncidents: {
        parameters: {
            query?: {
                /** @description Only incidents of this monitor, `srv_<n>` or `<n>`. */
                server_id?: string;
                /** @description `active` or `recovered`; anything else means both. */
                status?: string;
                /** @description How many incidents to consider, before the status filter. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
                /** @description Only incidents that were open at this time or later. An addition of ours, as the next four. */
                from?: string;
                /** @description Only incidents that were open at this time or before. */
                to?: string;
                /** @description Only incidents of monitors that have this tag. */
                tag?: string;
                /** @description `true`: only acknowledged ones; `false`: only others. */
                acknowledged?: boolean;
                severity?: "critical" | "warning";
            };
        };
        responses: {
            /** @description List incidents, open ones first */
            200: {
                content: {
                    "application/json": components["schemas"]["IncidentList"];
                };
            };
        };
    };
    acknowledgeIncidents: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcknowledgeIncidents"];
            };
        };
        responses: {
            /** @description Acknowledge many incidents; ids that are not there are passed over */
            200: {
                content: {
                    "application/json": components["schemas"]["AcknowledgedIncidents"];
                };
            };
        };
    };
    getIncident: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Read an incident */
            200: {
                content: {
                    "application/json": components["schemas"]["Incident"];
                };
            };
        };
    };
    listIncidentEvents: {
        parameters: {
            query?: {
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description What happened during an incident, oldest first */
            200: {
                content: {
                    "application/json": components["schemas"]["IncidentEventList"];
                };
            };
        };
    };
    acknowledgeIncident: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcknowledgeIncident"];
            };
        };
        responses: {
            /** @description Acknowledge an incident; repeating it changes nothing */
            200: {
                content: {
                    "application/json": components["schemas"]["Incident"];
                };
            };
        };
    };
    addIncidentNote: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentNote"];
            };
        };
        responses: {
            /** @description Write a note into an incident's log */
            200: {
                content: {
                    "application/json": components["schemas"]["WrittenNote"];
                };
            };
        };
    };
    changeIncidentNote: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
                /** @description Note id, `evt_<n>` or `<n>` */
                note: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentNote"];
            };
        };
        responses: {
            /** @description Write a note anew: its author, an owner or an admin may */
            200: {
                content: {
                    "application/json": components["schemas"]["WrittenNote"];
                };
            };
        };
    };
    deleteIncidentNote: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
                /** @description Note id, `evt_<n>` or `<n>` */
                note: string;
            };
        };
        responses: {
            /** @description Delete a note: its author, an owner or an admin may */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedNote"];
                };
            };
        };
    };
    writeIncidentReport: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IncidentReport"];
            };
        };
        responses: {
            /** @description Write why an incident happened, and what readers of public pages are told of it */
            200: {
                content: {
                    "application/json": components["schemas"]["WrittenReport"];
                };
            };
        };
    };
    listMaintenance: {
        parameters: {
            query?: {
                /** @description Only of this monitor, `srv_<n>` or `<n>`. */
                server_id?: string;
                state?: "active" | "next" | "ended";
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
        };
        responses: {
            /** @description List maintenance: windows of monitors, the earliest first, and schedules */
            200: {
                content: {
                    "application/json": components["schemas"]["MaintenanceList"];
                };
            };
        };
    };
    createMaintenance: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanMaintenance"];
            };
        };
        responses: {
            /** @description Plan maintenance of monitors, of all that have a tag, or by a schedule */
            200: {
                content: {
                    "application/json": components["schemas"]["PlannedMaintenance"];
                };
            };
        };
    };
    endMaintenance: {
        parameters: {
            path: {
                /** @description Maintenance id, `mnt_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description End maintenance now: a window, or the turn of a schedule that is on */
            200: {
                content: {
                    "application/json": components["schemas"]["EndedMaintenance"];
                };
            };
        };
    };
    listChannels: {
        parameters: { query?: never };
        responses: {
            /** @description List channels, the oldest first */
            200: {
                content: {
                    "application/json": components["schemas"]["ChannelList"];
                };
            };
        };
    };
    createChannel: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateChannel"];
            };
        };
        responses: {
            /** @description Add a channel */
            200: {
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    listChannelKinds: {
        parameters: { query?: never };
        responses: {
            /** @description List the kinds of channels and their settings */
            200: {
                content: {
                    "application/json": components["schemas"]["ChannelKinds"];
                };
            };
        };
    };
    testUnsavedChannel: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestUnsavedChannel"];
            };
        };
        responses: {
            /** @description Send a sample by settings that are not saved; waits up to 20 seconds */
            200: {
                content: {
                    "application/json": components["schemas"]["ChannelTest"];
                };
            };
        };
    };
    getChannel: {
        parameters: {
            path: {
                /** @description Channel id, `ch_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Get a channel */
            200: {
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    changeChannel: {
        parameters: {
            path: {
                /** @description Channel id, `ch_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeChannel"];
            };
        };
        responses: {
            /** @description Change a channel; secrets that are left out stay */
            200: {
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
        };
    };
    deleteChannel: {
        parameters: {
            path: {
                /** @description Channel id, `ch_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Delete a channel */
            200: {
                content: {
                    "application/json": components["schemas"]["ChannelRemoved"];
                };
            };
        };
    };
    testChannel: {
        parameters: {
            path: {
                /** @description Channel id, `ch_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TestChannel"];
            };
        };
        responses: {
            /** @description Send a sample; waits up to 20 seconds */
            200: {
                content: {
                    "application/json": components["schemas"]["ChannelTest"];
                };
            };
        };
    };
    getAlertRules: {
        parameters: { query?: never };
        responses: {
            /** @description Read the project's rules of alerts, in their order */
            200: {
                content: {
                    "application/json": components["schemas"]["AlertRules"];
                };
            };
        };
    };
    setAlertRules: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertRulesChange"];
            };
        };
        responses: {
            /** @description Replace the project's rules of alerts */
            200: {
                content: {
                    "application/json": components["schemas"]["AlertRules"];
                };
            };
        };
    };
    previewAlertRules: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertPreviewQuestion"];
            };
        };
        responses: {
            /** @description Ask who would hear of an event of a monitor, or of an incident */
            200: {
                content: {
                    "application/json": components["schemas"]["AlertPreview"];
                };
            };
        };
    };
    getQuietHours: {
        parameters: { query?: never };
        responses: {
            /** @description Read the project's quiet hours */
            200: {
                content: {
                    "application/json": components["schemas"]["QuietHours"];
                };
            };
        };
    };
    setQuietHours: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuietHoursChange"];
            };
        };
        responses: {
            /** @description Replace the project's quiet hours */
            200: {
                content: {
                    "application/json": components["schemas"]["QuietHours"];
                };
            };
        };
    };
    listIncidentAlerts: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description List the newest messages about an incident */
            200: {
                content: {
                    "application/json": components["schemas"]["SentAlerts"];
                };
            };
        };
    };
    listChannelDeliveries: {
        parameters: {
            path: {
                /** @description Channel id, `ch_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description List the newest messages to a channel */
            200: {
                content: {
                    "application/json": components["schemas"]["SentAlerts"];
                };
            };
        };
    };
    getMaintenanceSchedule: {
        parameters: {
            path: {
                /** @description Maintenance id, `mnt_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Read a schedule of maintenance */
            200: {
                content: {
                    "application/json": components["schemas"]["MaintenanceSchedule"];
                };
            };
        };
    };
    updateMaintenanceSchedule: {
        parameters: {
            path: {
                /** @description Maintenance id, `mnt_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMaintenanceSchedule"];
            };
        };
        responses: {
            /** @description Change a schedule of maintenance; a turn that is on goes on as the changed schedule has it */
            200: {
                content: {
                    "application/json": components["schemas"]["MaintenanceSchedule"];
                };
            };
        };
    };
    deleteMaintenanceSchedule: {
        parameters: {
            path: {
                /** @description Maintenance id, `mnt_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Delete a schedule of maintenance; a turn that is on ends */
            200: {
                content: {
                    "application/json": components["schemas"]["DeletedMaintenance"];
                };
            };
        };
    };
    listStatusPages: {
        parameters: { query?: never };
        responses: {
            /** @description List a project's status pages, by slug */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPageList"];
                };
            };
        };
    };
    createStatusPage: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateStatusPage"];
            };
        };
        responses: {
            /** @description Create a status page */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
        };
    };
    getStatusPage: {
        parameters: {
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Read a status page's settings */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
        };
    };
    updateStatusPage: {
        parameters: {
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateStatusPage"];
            };
        };
        responses: {
            /** @description Change a status page: what is not sent stays */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPage"];
                };
            };
        };
    };
    deleteStatusPage: {
        parameters: {
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Delete a status page, its updates with it */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedStatusPage"];
                };
            };
        };
    };
    listStatusPageUpdates: {
        parameters: {
            query?: {
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description List what was announced on a status page, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPageUpdateList"];
                };
            };
        };
    };
    addStatusPageUpdate: {
        parameters: {
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateStatusPageUpdate"];
            };
        };
        responses: {
            /** @description Announce something on a status page */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPageUpdate"];
                };
            };
        };
    };
    changeStatusPageUpdate: {
        parameters: {
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
                /** @description Update id, `spu_<n>` or `<n>` */
                update: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateStatusPageUpdate"];
            };
        };
        responses: {
            /** @description Change an announcement: what is not sent stays */
            200: {
                content: {
                    "application/json": components["schemas"]["StatusPageUpdate"];
                };
            };
        };
    };
    deleteStatusPageUpdate: {
        parameters: {
            path: {
                /** @description Status page id, `spg_<n>` or `<n>` */
                id: string;
                /** @description Update id, `spu_<n>` or `<n>` */
                update: string;
            };
        };
        responses: {
            /** @description Take an announcement away */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedStatusPageUpdate"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: { query?: never };
        responses: {
            /** @description List the webhooks of a project, oldest first */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
        };
    };
    createWebhook: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description Tell a receiver what happens; its secret is shown once */
            200: {
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description Read a webhook */
            200: {
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhook"];
            };
        };
        responses: {
            /** @description Change the address of a webhook, or what it is told */
            200: {
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description Delete a webhook; what waits for it is not sent any more */
            200: {
                content: {
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
        };
    };
    rotateWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description Give a webhook a new secret, shown once; the one before signs too for a day */
            200: {
                content: {
                    "application/json": components["schemas"]["RotatedWebhook"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description Send a webhook.test, whatever events were chosen */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookQueued"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description How many to return; the newest few hundred are kept. */
                limit?: number;
            };
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description What was sent to a webhook, newest first, and what came of each attempt */
            200: {
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
        };
    };
    enableWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description Switch a webhook on again */
            200: {
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    disableWebhook: {
        parameters: {
            path: {
                /** @description Webhook id */
                id: string;
            };
        };
        responses: {
            /** @description Send a webhook nothing until it is enabled; what waits for it is cancelled */
            200: {
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    convertImport: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConvertImport"];
            };
        };
        responses: {
            /** @description Make a document of what another program watches, and tell what is lost */
            200: {
                content: {
                    "application/json": components["schemas"]["ConvertedImport"];
                };
            };
        };
    };
    exportDocument: {
        parameters: {
            query?: {
                /** @description What this document has. Without it: all of the project */
                name?: string;
            };
        };
        responses: {
            /** @description Write what there is as a document */
            200: {
                content: {
                    "application/json": components["schemas"]["ExportedDocument"];
                };
            };
        };
    };
    listSubscriptions: {
        parameters: {
            query?: {
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
        };
        responses: {
            /** @description List subscriptions, oldest first */
            200: {
                content: {
                    "application/json": components["schemas"]["SubscriptionList"];
                };
            };
        };
    };
    createSubscription: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSubscription"];
            };
        };
        responses: {
            /** @description Add a subscription and start its first sync */
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    getSubscription: {
        parameters: {
            path: {
                /** @description Subscription id, `sub_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Read a subscription */
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    updateSubscription: {
        parameters: {
            path: {
                /** @description Subscription id, `sub_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSubscription"];
            };
        };
        responses: {
            /** @description Change the fields that are sent */
            200: {
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    deleteSubscription: {
        parameters: {
            path: {
                /** @description Subscription id, `sub_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Delete a subscription; its monitors are kept, paused */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedSubscription"];
                };
            };
        };
    };
    syncSubscription: {
        parameters: {
            path: {
                /** @description Subscription id, `sub_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Start a sync now; one that is switched off is switched on first */
            200: {
                content: {
                    "application/json": components["schemas"]["StartedSync"];
                };
            };
        };
    };
    listSubscriptionConfigs: {
        parameters: {
            query?: {
                status?: "healthy" | "down" | "unknown";
                sort?: "latency" | "tag";
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
            path: {
                /** @description Subscription id, `sub_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description List the configurations of a subscription, the fastest first */
            200: {
                content: {
                    "application/json": components["schemas"]["SubscriptionConfigList"];
                };
            };
        };
    };
    revealLinks: {
        parameters: {
            path: {
                /** @description Subscription id, `sub_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RevealLinks"];
            };
        };
        responses: {
            /** @description The share links of a subscription, the fastest first */
            200: {
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    testMonitor: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestMonitor"];
            };
        };
        responses: {
            /** @description Test a tunnel now */
            200: {
                content: {
                    "application/json": components["schemas"]["Test"];
                };
            };
            /** @description Still running */
            202: {
                content: {
                    "application/json": components["schemas"]["PendingTest"];
                };
            };
        };
    };
    testMonitors: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestMonitors"];
            };
        };
        responses: {
            /** @description Test many tunnels now */
            200: {
                content: {
                    "application/json": components["schemas"]["Batch"];
                };
            };
        };
    };
    checkMonitor: {
        parameters: {
            path: {
                /** @description Monitor id, `srv_<n>` or `<n>` */
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CheckMonitor"];
            };
        };
        responses: {
            /** @description Check a monitor of any kind but heartbeats now */
            200: {
                content: {
                    "application/json": components["schemas"]["Test"];
                };
            };
            /** @description Still running */
            202: {
                content: {
                    "application/json": components["schemas"]["PendingTest"];
                };
            };
        };
    };
    retestIncident: {
        parameters: {
            path: {
                /** @description Incident id, `inc_<n>` or `<n>` */
                id: string;
            };
        };
        responses: {
            /** @description Test an incident's monitor now */
            200: {
                content: {
                    "application/json": components["schemas"]["Retest"];
                };
            };
        };
    };
    checkConfig: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckConfig"];
            };
        };
        responses: {
            /** @description Check a configuration once, without saving it */
            200: {
                content: {
                    "application/json": components["schemas"]["ConfigCheck"];
                };
            };
        };
    };
    checkConfigWithoutKey: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckConfigWithoutKey"];
            };
        };
        responses: {
            /** @description Check a configuration once, without a key */
            200: {
                content: {
                    "application/json": components["schemas"]["ConfigCheck"];
                };
            };
        };
    };
    checkMany: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckMany"];
            };
        };
        responses: {
            /** @description Check many configurations once, and answer each as its check ends */
            200: {
                content: {
                    "application/x-ndjson": unknown;
                };
            };
        };
    };
    whoami: {
        parameters: { query?: never };
        responses: {
            /** @description Who the key belongs to and what it reaches */
            200: {
                content: {
                    "application/json": components["schemas"]["Whoami"];
                };
            };
        };
    };
    listOrganizations: {
        parameters: { query?: never };
        responses: {
            /** @description List the workspaces that the key reaches, with the caller's role */
            200: {
                content: {
                    "application/json": components["schemas"]["OrganizationList"];
                };
            };
        };
    };
    getOrganization: {
        parameters: {
            path: {
                /** @description Workspace id */
                id: string;
            };
        };
        responses: {
            /** @description Read a workspace: its plan's numbers, and what of them is used */
            200: {
                content: {
                    "application/json": components["schemas"]["OrganizationDetails"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: {
                /** @description Only projects of this workspace. */
                organization_id?: number;
            };
        };
        responses: {
            /** @description List the active projects that the key reaches */
            200: {
                content: {
                    "application/json": components["schemas"]["ProjectList"];
                };
            };
        };
    };
    getKeyUsage: {
        parameters: {
            path: {
                /** @description Key id */
                id: string;
            };
        };
        responses: {
            /** @description Requests that a key made, by day and by endpoint */
            200: {
                content: {
                    "application/json": components["schemas"]["KeyUsage"];
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Which workspace; without it the default one. Of use to account-wide keys. */
                organization_id?: number;
            };
        };
        responses: {
            /** @description Requests and on-demand tests used, limits, daily history and the busiest endpoints */
            200: {
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
        };
    };
    listKeys: {
        parameters: { query?: never };
        responses: {
            /** @description List API keys, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["KeyList"];
                };
            };
        };
    };
    createKey: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKey"];
            };
        };
        responses: {
            /** @description Create an API key; its secret is shown once */
            200: {
                content: {
                    "application/json": components["schemas"]["CreatedKey"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: {
                /** @description `1` deletes the key for good; anything else disables it. */
                hard?: string;
            };
            path: {
                /** @description Key id */
                id: string;
            };
        };
        responses: {
            /** @description Disable an API key, or delete it for good */
            200: {
                content: {
                    "application/json": components["schemas"]["RevokedKey"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Of this workspace. Without it: the key's own. */
                organization_id?: number;
                /** @description Only since then. */
                from?: string;
                /** @description Only what this user did. */
                actor?: number;
                /** @description Only this: `monitor.deleted`, or everything that was done to a `monitor`. */
                what?: string;
                /** @description How many to return. */
                limit?: number;
                /** @description How many matching ones to skip. */
                offset?: number;
            };
        };
        responses: {
            /** @description List what was changed in a workspace, and by whom, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description Of this workspace. Without it: the key's own. */
                organization_id?: number;
            };
        };
        responses: {
            /** @description List the members of a workspace, the oldest membership first */
            200: {
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
        };
    };
    inviteMember: {
        parameters: {
            query?: {
                /** @description Of this workspace. Without it: the key's own. */
                organization_id?: number;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InviteMember"];
            };
        };
        responses: {
            /** @description Add a person to a workspace; a link signs the person in once */
            200: {
                content: {
                    "application/json": components["schemas"]["InvitedMember"];
                };
            };
        };
    };
    changeMember: {
        parameters: {
            query?: {
                /** @description Of this workspace. Without it: the key's own. */
                organization_id?: number;
            };
            path: {
                /** @description User id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeMember"];
            };
        };
        responses: {
            /** @description Give a member another role */
            200: {
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
        };
    };
    removeMember: {
        parameters: {
            query?: {
                /** @description Of this workspace. Without it: the key's own. */
                organization_id?: number;
            };
            path: {
                /** @description User id */
                id: string;
            };
        };
        responses: {
            /** @description Take a person out of a workspace; the person's keys of it stop at once */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedMember"];
                };
            };
        };
    };
    getSession: {
        parameters: { query?: never };
        responses: {
            /** @description Who is signed in, and what the session reaches */
            200: {
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    signIn: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            /** @description Sign in to the page, with a key or with the code of a sign-in link */
            200: {
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    signOut: {
        parameters: { query?: never };
        responses: {
            /** @description Sign out */
            200: {
                content: {
                    "application/json": components["schemas"]["SignedOut"];
                };
            };
        };
    };
    listSessions: {
        parameters: { query?: never };
        responses: {
            /** @description List the sessions of the person, newest first */
            200: {
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
        };
    };
    endOtherSessions: {
        parameters: {
            query?: {
                /** @description `1`: every session of the person but this one. */
                others?: string;
            };
        };
        responses: {
            /** @description End every session of the person but this one */
            200: {
                content: {
                    "application/json": components["schemas"]["EndedSessions"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            path: {
                /** @description Session id */
                id: string;
            };
        };
        responses: {
            /** @description End a session of the person */
            200: {
                content: {
                    "application/json": components["schemas"]["EndedSessions"];
                };
            };
        };
    };
    getSignInWays: {
        parameters: { query?: never };
        responses: {
            /** @description Which ways to sign in to the page are set up, besides keys and sign-in links */
            200: {
                content: {
                    "application/json": components["schemas"]["SignInWays"];
                };
            };
        };
    };
    beginProviderSignIn: {
        parameters: { query?: never };
        responses: {
            /** @description Begin to sign in at the provider of identities */
            200: {
                content: {
                    "application/json": components["schemas"]["ProviderSignIn"];
                };
            };
        };
    };
    challengePasskey: {
        parameters: { query?: never };
        responses: {
            /** @description A challenge for a passkey, whose answer POST /session takes */
            200: {
                content: {
                    "application/json": components["schemas"]["PasskeyChallenge"];
                };
            };
        };
    };
    listPasskeys: {
        parameters: { query?: never };
        responses: {
            /** @description List the passkeys of the person, oldest first */
            200: {
                content: {
                    "application/json": components["schemas"]["PasskeyList"];
                };
            };
        };
    };
    addPasskey: {
        parameters: { query?: never };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPasskey"];
            };
        };
        responses: {
            /** @description Add a passkey of the person */
            200: {
                content: {
                    "application/json": components["schemas"]["Passkey"];
                };
            };
        };
    };
    challengeNewPasskey: {
        parameters: { query?: never };
        responses: {
            /** @description What a browser makes a new passkey of */
            200: {
                content: {
                    "application/json": components["schemas"]["NewPasskeyChallenge"];
                };
            };
        };
    };
    renamePasskey: {
        parameters: {
            path: {
                /** @description Passkey id */
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenamePasskey"];
            };
        };
        responses: {
            /** @description Give a passkey another name */
            200: {
                content: {
                    "application/json": components["schemas"]["Passkey"];
                };
            };
        };
    };
    removePasskey: {
        parameters: {
            path: {
                /** @description Passkey id */
                id: string;
            };
        };
        responses: {
            /** @description Remove a passkey of the person; sessions that it began go on */
            200: {
                content: {
                    "application/json": components["schemas"]["RemovedPasskey"];
                };
            };
        };
    };
    getHealth: {
        parameters: { query?: never };
        responses: {
            /** @description Whether the API is up */
            200: {
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getDeepHealth: {
        parameters: { query?: never };
        responses: {
            /** @description Whether the database and the job queue are up too */
            200: {
                content: {
                    "application/json": components["schemas"]["DeepHealth"];
                };
            };
        };
    };
    listRegions: {
        parameters: { query?: never };
        responses: {
            /** @description Locations one can test from, with their healthy checkers */
            200: {
                content: {
                    "application/json": components["schemas"]["RegionList"];
                };
            };
        };
    };
    getService: {
        parameters: { query?: never };
        responses: {
            /** @description The service: schedulers, checkers by location, stores, what waits */
            200: {
                content: {
                    "application/json": components["schemas"]["Service"];
                };
            };
        };
    };
}
