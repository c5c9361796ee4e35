/** Persian: what is kept of forms, and taken away as files. */
import type { taking as english } from "../en/taking.ts";
import type { WordsOf } from "../text.ts";

export const taking: WordsOf<typeof english> = {
  "draft.kept": "آنچه پیش‌تر اینجا نوشتید هنوز هست.",
  "draft.anew": "از نو",
  "new.adding": "افزوده‌شده",
  "import.reading": "سند در حال خواندن است. سند بزرگ کمی زمان می‌برد.",
  "import.export": "دریافت این پروژه",
  "import.exportHint": "همهٔ پروژه در یک سند: پایش‌ها، کانال‌ها، قاعده‌ها، صفحه‌های وضعیت. رازها در آن نیستند.",
  "import.exported": {
    one: "سند ذخیره شد. {n} راز در آن نیست: به جایش متغیر آمده است.",
    other: "سند ذخیره شد. {n} راز در آن نیست: به جایشان متغیر آمده است.",
  },
  "subscription.copyLinks": "رونوشت پیوندهای سالم",
  "subscription.editTitle": "ویرایش اشتراک",
  "subscription.every": "هر {duration}",
  "subscription.timeout": "مهلت {duration}",
  "subscription.atOnce": "{n} هم‌زمان",
  "subscription.syncIntervalSec": "خواندن هر چند ثانیه",
  "subscription.timeoutSeconds": "مهلت هر سرور، ثانیه",
  "subscription.maxWorkers": "سرورهای هم‌زمان",
  "subscription.configAlertPercent": "هشدار اگر کمتر کار کنند، درصد",
  "field.wholeNumber": "یک عدد صحیح بنویسید.",
  "keys.usageOf": "مصرف {name}",
  "usage.days7": "۷ روز گذشته",
  "usage.days30": "۳۰ روز گذشته",
  "page.updateDeleted": "خوانندگان دیگر آن را نمی‌بینند.",
  "account.hours": "ساعت روز",
  "account.hours.auto": "به رسم زبان",
  "account.hours.12": "۱۲ساعته",
  "account.hours.24": "۲۴ساعته",
  "account.zone.device": "همین دستگاه",
};
