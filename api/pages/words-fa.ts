/** Persian. Pure. */
import { atMost, duration, type Unit } from "./amounts.ts";
import type { PageWords } from "./words-en.ts";

const FORMAT = new Intl.NumberFormat("fa");
const number = (count: number): string => FORMAT.format(count);
const days = (count: number): string => `${number(count)} روز`;
const UNITS: Readonly<Record<Unit, string>> = { s: "ثانیه", min: "دقیقه", h: "ساعت", d: "روز" };
const lasting = (seconds: number): string => duration(seconds, (count, unit) => `${number(count)} ${UNITS[unit]}`);

export const persian: PageWords = {
  headlines: {
    works: "همهٔ سامانه‌ها کار می‌کنند",
    paused: "اکنون چیزی پایش نمی‌شود",
    maintenance: "نگهداری در جریان است",
    unknown: "هنوز چیزی معلوم نیست",
    degraded: "برخی سامانه‌ها افت کیفیت دارند",
    partial: "برخی سامانه‌ها قطع‌اند",
    down: "همهٔ سامانه‌ها قطع‌اند",
  },
  states: {
    works: "کار می‌کند",
    paused: "پایش نمی‌شود",
    maintenance: "در نگهداری",
    unknown: "بدون داده",
    degraded: "افت کیفیت",
    partial: "بخشی قطع",
    down: "قطع",
  },
  levels: {
    info: "اطلاع",
    maintenance: "نگهداری",
    warning: "هشدار",
    outage: "قطعی",
    resolved: "حل شد",
  },
  phases: {
    investigating: "در حال بررسی",
    identified: "علت پیدا شد",
    monitoring: "زیر نظر",
    resolved: "حل شد",
  },
  skip: "رفتن به وضعیت",
  systems: "سامانه‌ها",
  announcements: "خبرها",
  open: "رخدادهای باز",
  past: "رخدادهای گذشته",
  noPast: (count) => `در ${days(count)} گذشته نبوده است.`,
  noSystems: "این صفحه هنوز سامانه‌ای ندارد.",
  maintenance: "نگهداری",
  more: (count) => `${number(count)} مورد دیگر`,
  share: (works, known) => `${number(works)} از ${number(known)} کار می‌کنند`,
  certificate: (count) => (count < 0 ? "گواهی منقضی شده است" : `گواهی: ${days(count)}`),
  latency: (ms) => `${number(ms)} میلی‌ثانیه`,
  daysAgo: (count) => `${days(count)} پیش`,
  today: "امروز",
  since: "از",
  ongoing: "ادامه دارد",
  resolved: "حل شد",
  why: "چرا رخ داد",
  postmortem: "گزارش پس از رخداد",
  updates: "خبرهای تازه",
  back: "بازگشت به وضعیت",
  noNotes: "چیزی دربارهٔ آن نوشته نشده است.",
  began: "آغاز",
  ended: "پایان",
  lasted: "مدت",
  subscribe: "دنبال کردن",
  badge: "نشانک",
  badges: {
    status: "وضعیت",
    uptime: "دسترس‌پذیری",
    latency: "تأخیر",
    certificate: "گواهی",
    expired: "منقضی",
    days,
  },
  home: "سایت",
  contact: "تماس",
  powered: "با Sonde",
  old: (age) => `این داده‌ها ${age} کهنه‌اند: سرویس اکنون به داده‌هایش دسترسی ندارد.`,
  draft: "این پیش‌نویس است: تنها کسانی که به پروژه وارد شده‌اند آن را می‌بینند.",
  notFound: "چنین صفحه‌ای نیست",
  notFoundText: "شاید نشانی اشتباه باشد یا صفحه برداشته شده باشد.",
  passwordTitle: "این صفحه رمز عبور می‌خواهد",
  password: "رمز عبور",
  enter: "باز کردن صفحه",
  wrongPassword: "رمز عبور درست نیست.",
  signIn: "این صفحه برای کسانی است که وارد شده‌اند",
  signInLink: "ورود",
  index: "صفحه‌های وضعیت",
  noPages: "صفحه‌ای نیست.",
  incident: (title, level, isOver) => {
    if (level === "down") return `${title} قطع ${isOver ? "بود" : "است"}`;
    return `${title} افت کیفیت ${isOver ? "داشت" : "دارد"}`;
  },
  barLabel: (count, troubled, downS) =>
    troubled === 0
      ? `${days(count)} گذشته: بدون قطعی`
      : `${days(count)} گذشته: قطعی در ${days(troubled)}، در مجموع ${lasting(downS)}`,
  duration: lasting,
  percent: (uptime) => {
    const text = atMost(uptime);
    const digits = { minimumFractionDigits: text.includes(".") ? 2 : 0 };
    return `${new Intl.NumberFormat("fa", digits).format(Number(text))}٪`;
  },
  looks: {
    none: "بدون داده",
    up: "بدون قطعی",
    maintenance: "نگهداری",
    slight: "قطع",
    bad: "قطع",
    worse: "قطع",
  },
};
