/** Russian: keys, the list of incidents, what is written about one afterwards. */
import type { using as english } from "../en/using.ts";
import type { WordsOf } from "../text.ts";

export const using: WordsOf<typeof english> = {
  "shortcut.title": "Клавиши",
  "shortcut.filter": "Перейти к фильтру",
  "shortcut.go": "Перейти к обзору, мониторам, инцидентам, подпискам, оповещениям",
  "shortcut.move": "Следующая строка, предыдущая строка",
  "shortcut.open": "Открыть строку",
  "shortcut.choose": "Выбрать строку",
  "shortcut.pause": "Приостановить или возобновить",
  "shortcut.acts": "Перейти к кнопкам экрана",
  "shortcut.help": "Показать эти клавиши",
  "shortcut.off": "Их можно отключить в разделе «Учётная запись».",
  "report.title": "Разбор инцидента",
  "report.write": "Написать",
  "report.none": "Почему это случилось, для тех, кто спросит позже.",
  "report.heading": "Заголовок для читателей",
  "report.headingHint": "Например: Франкфурт недоступен. Без него страница статуса говорит, что не работает.",
  "report.text": "Почему это случилось",
  "report.textHint": "Markdown.",
  "incidents.severity": "Серьёзность",
  "incidents.anySeverity": "Любая серьёзность",
  "incidents.any": "Подтверждённые и нет",
  "incidents.unacknowledged": "Не подтверждённые",
  "incidents.from": "С",
  "incidents.to": "По",
  "incidents.noneFound": "Подходящих инцидентов нет.",
  "incidents.acknowledgeMany": "Подтвердить инциденты",
  "incidents.acknowledgeAll": {
    one: "Подтвердить {n}",
    few: "Подтвердить все {n}",
    many: "Подтвердить все {n}",
    other: "Подтвердить все {n}",
  },
  "incidents.acknowledgeText": {
    one: "Будет подтверждён {n} инцидент. О нём не напомнят, пока он не закончится.",
    few: "Будут подтверждены {n} инцидента. О них не напомнят, пока они не закончатся.",
    many: "Будет подтверждено {n} инцидентов. О них не напомнят, пока они не закончатся.",
    other: "Будет подтверждено {n} инцидента. О них не напомнят, пока они не закончатся.",
  },
  "incidents.acknowledged": {
    one: "Подтверждён {n} инцидент.",
    few: "Подтверждены {n} инцидента.",
    many: "Подтверждено {n} инцидентов.",
    other: "Подтверждено {n} инцидента.",
  },
};
