/** Russian: keys, the list of incidents, what is written about one afterwards. */
import type { using as english } from "../en/using.ts";
import type { WordsOf } from "../text.ts";

export const using: WordsOf<typeof english> = {
  "shortcut.title": "Клавиши",
  "shortcut.filter": "К фильтру",
  "shortcut.go": "Открыть обзор, мониторы, инциденты, подписки, оповещения",
  "shortcut.move": "Следующая строка, предыдущая строка",
  "shortcut.open": "Открыть строку",
  "shortcut.choose": "Выбрать строку",
  "shortcut.pause": "Приостановить или возобновить",
  "shortcut.acts": "К кнопкам экрана",
  "shortcut.help": "Показать эти клавиши",
  "shortcut.off": "Отключаются в разделе «Учётная запись».",
  "report.title": "Разбор инцидента",
  "report.write": "Написать",
  "report.none": "Почему это случилось — для тех, кто спросит позже.",
  "report.heading": "Заголовок для читателей",
  "report.headingHint": "Например: Франкфурт недоступен. Без него страница статуса скажет, что не работает.",
  "report.text": "Почему это случилось",
  "report.textHint": "Markdown.",
  "incidents.narrow": "Сузить список",
  "incidents.severity": "Важность",
  "incidents.anySeverity": "Любая важность",
  "incidents.any": "Подтверждённые и нет",
  "incidents.unacknowledged": "Неподтверждённые",
  "incidents.from": "С",
  "incidents.to": "По",
  "incidents.noneFound": "Подходящих инцидентов нет.",
  "incidents.shareHost": {
    one: "{n} открытый инцидент с хостом {host}",
    few: "{n} открытых инцидента с общим хостом {host}",
    many: "{n} открытых инцидентов с общим хостом {host}",
  },
  "incidents.acknowledgeMany": "Подтвердить инциденты",
  "incidents.acknowledgeAll": { one: "Подтвердить {n}", few: "Подтвердить все {n}", many: "Подтвердить все {n}" },
  "incidents.acknowledgeText": {
    one: "{n} инцидент будет подтверждён. О нём больше не сообщат, пока он не закончится.",
    few: "{n} инцидента будут подтверждены. О них больше не сообщат, пока они не закончатся.",
    many: "{n} инцидентов будут подтверждены. О них больше не сообщат, пока они не закончатся.",
  },
  "incidents.acknowledged": {
    one: "{n} инцидент подтверждён.",
    few: "{n} инцидента подтверждены.",
    many: "{n} инцидентов подтверждены.",
  },
};
