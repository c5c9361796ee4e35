/** Persian: keys, the list of incidents, what is written about one afterwards. */
import type { using as english } from "../en/using.ts";
import type { WordsOf } from "../text.ts";

export const using: WordsOf<typeof english> = {
  "shortcut.title": "کلیدها",
  "shortcut.filter": "رفتن به فیلتر",
  "shortcut.go": "رفتن به نمای کلی، پایش‌ها، رخدادها، اشتراک‌ها، هشدارها",
  "shortcut.move": "سطر بعدی، سطر پیشین",
  "shortcut.open": "باز کردن سطر",
  "shortcut.choose": "انتخاب سطر",
  "shortcut.pause": "توقف موقت یا ادامه",
  "shortcut.acts": "رفتن به دکمه‌های صفحه",
  "shortcut.help": "نمایش این کلیدها",
  "shortcut.off": "در بخش «حساب کاربری» خاموش می‌شوند.",
  "report.title": "گزارش پس از رخداد",
  "report.write": "نوشتن",
  "report.none": "چرا رخ داد، برای کسانی که بعداً می‌پرسند.",
  "report.heading": "عنوان برای خوانندگان",
  "report.headingHint": "مانند: فرانکفورت در دسترس نیست. بدون آن، صفحهٔ وضعیت می‌گوید چه چیزی قطع است.",
  "report.text": "چرا رخ داد",
  "report.textHint": "Markdown.",
  "incidents.narrow": "محدود کردن فهرست",
  "incidents.severity": "شدت",
  "incidents.anySeverity": "هر شدتی",
  "incidents.any": "تأییدشده یا نشده",
  "incidents.unacknowledged": "تأییدنشده",
  "incidents.from": "از",
  "incidents.to": "تا",
  "incidents.noneFound": "رخدادی پیدا نشد.",
  "incidents.shareHost": { one: "{n} رخداد باز روی {host} است", other: "{n} رخداد باز میزبان مشترک {host} دارند" },
  "incidents.acknowledgeMany": "تأیید رخدادها",
  "incidents.acknowledgeAll": { one: "تأیید {n}", other: "تأیید هر {n}" },
  "incidents.acknowledgeText": {
    one: "{n} رخداد تأیید می‌شود و تا پایانش دوباره گفته نمی‌شود.",
    other: "{n} رخداد تأیید می‌شوند و تا پایانشان دوباره گفته نمی‌شوند.",
  },
  "incidents.acknowledged": { one: "{n} رخداد تأیید شد.", other: "{n} رخداد تأیید شدند." },
};
