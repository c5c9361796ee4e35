/** Russian: what is kept of forms, and taken away as files. */
import type { taking as english } from "../en/taking.ts";
import type { WordsOf } from "../text.ts";

export const taking: WordsOf<typeof english> = {
  "draft.kept": "Здесь осталось то, что вы начали писать.",
  "draft.anew": "Начать заново",
  "new.adding": "Добавлено",
  "import.reading": "Документ читается. Большой займёт некоторое время.",
  "import.export": "Скачать этот проект",
  "import.exportHint": "Весь проект в виде документа: мониторы, каналы, правила, страницы статуса. Секретов в нём нет.",
  "import.exported": {
    one: "Документ сохранён. {n} секрет в него не вошёл: вместо него переменная.",
    few: "Документ сохранён. {n} секрета в него не вошли: вместо них переменные.",
    many: "Документ сохранён. {n} секретов в него не вошли: вместо них переменные.",
  },
  "subscription.copyLinks": "Скопировать работающие ссылки",
  "subscription.editTitle": "Изменить подписку",
  "subscription.every": "каждые {duration}",
  "subscription.timeout": "ожидание {duration}",
  "subscription.atOnce": "одновременно {n}",
  "subscription.syncIntervalSec": "Читать каждые, секунды",
  "subscription.timeoutSeconds": "Ожидание сервера, секунды",
  "subscription.maxWorkers": "Серверов одновременно",
  "subscription.configAlertPercent": "Оповещать, если работает меньше, %",
  "field.wholeNumber": "Напишите целое число.",
  "keys.usageOf": "Расход: {name}",
  "usage.days7": "Последние 7 дней",
  "usage.days30": "Последние 30 дней",
  "page.updateDeleted": "Читатели этого больше не видят.",
  "account.hours": "Время суток",
  "account.hours.auto": "как принято в языке",
  "account.hours.12": "12 часов",
  "account.hours.24": "24 часа",
  "account.zone.device": "этого устройства",
};
