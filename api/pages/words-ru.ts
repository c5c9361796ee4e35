/** Russian. Pure. */
import { atMost, duration, type Unit } from "./amounts.ts";
import type { PageWords } from "./words-en.ts";

const RULES = new Intl.PluralRules("ru");
/** @returns the number with the form of the word that it asks for */
function counted(count: number, one: string, few: string, many: string): string {
  const category = RULES.select(count);
  return `${count} ${category === "one" ? one : category === "few" ? few : many}`;
}
const days = (count: number): string => counted(count, "день", "дня", "дней");
const UNITS: Readonly<Record<Unit, string>> = { s: "с", min: "мин", h: "ч", d: "дн." };
const lasting = (seconds: number): string => duration(seconds, (count, unit) => `${count} ${UNITS[unit]}`);

export const russian: PageWords = {
  headlines: {
    works: "Все системы работают",
    paused: "Сейчас ничего не отслеживается",
    maintenance: "Идёт обслуживание",
    unknown: "Данных ещё нет",
    degraded: "В некоторых системах ухудшение",
    partial: "Некоторые системы не работают",
    down: "Все системы не работают",
  },
  states: {
    works: "Работает",
    paused: "Не отслеживается",
    maintenance: "Обслуживание",
    unknown: "Нет данных",
    degraded: "Ухудшение",
    partial: "Частично не работает",
    down: "Не работает",
  },
  levels: {
    info: "Заметка",
    maintenance: "Обслуживание",
    warning: "Предупреждение",
    outage: "Сбой",
    resolved: "Решено",
  },
  phases: {
    investigating: "Выясняем",
    identified: "Причина найдена",
    monitoring: "Наблюдаем",
    resolved: "Решено",
  },
  skip: "Перейти к состоянию",
  systems: "Системы",
  announcements: "Объявления",
  open: "Текущие инциденты",
  past: "Прошлые инциденты",
  noPast: (count) => `За последние ${days(count)} не было.`,
  noSystems: "На этой странице ещё нет систем.",
  maintenance: "Обслуживание",
  more: (count) => `ещё ${count}`,
  share: (works, known) => `работают ${works} из ${known}`,
  certificate: (count) => (count < 0 ? "сертификат истёк" : `сертификат: ${days(count)}`),
  latency: (ms) => `${ms} мс`,
  daysAgo: (count) => `${days(count)} назад`,
  today: "Сегодня",
  since: "с",
  ongoing: "продолжается",
  resolved: "Решено",
  why: "Почему это случилось",
  postmortem: "Разбор инцидента",
  updates: "Ход событий",
  back: "К состоянию",
  noNotes: "Об этом ничего не написано.",
  began: "Начало",
  ended: "Конец",
  lasted: "Длительность",
  subscribe: "Подписаться",
  badge: "Значок",
  badges: {
    status: "состояние",
    uptime: "доступность",
    latency: "задержка",
    certificate: "сертификат",
    expired: "истёк",
    days: (count) => `${count} дн.`,
  },
  home: "Сайт",
  contact: "Контакт",
  powered: "Работает на Sonde",
  old: (age) => `Этим данным ${age}: сервис сейчас не может получить новые.`,
  draft: "Это черновик: его видят только участники проекта, вошедшие в систему.",
  notFound: "Такой страницы нет",
  notFoundText: "Возможно, в адресе ошибка или страницу убрали.",
  passwordTitle: "Эта страница закрыта паролем",
  password: "Пароль",
  enter: "Открыть страницу",
  wrongPassword: "Пароль неверен.",
  signIn: "Эта страница для тех, кто вошёл",
  signInLink: "Войти",
  index: "Страницы статуса",
  noPages: "Их нет.",
  incident: (title, level, isOver) => {
    if (level === "down") return `${title}: ${isOver ? "не работало" : "не работает"}`;
    return `${title}: ${isOver ? "было ухудшение" : "ухудшение"}`;
  },
  barLabel: (count, troubled, downS) =>
    troubled === 0
      ? `Последние ${days(count)}: без сбоев`
      : `Последние ${days(count)}: сбои в ${troubled}, всего ${lasting(downS)}`,
  duration: lasting,
  percent: (uptime) => `${atMost(uptime).replace(".", ",")} %`,
  looks: {
    none: "нет данных",
    up: "без сбоев",
    maintenance: "обслуживание",
    slight: "не работало",
    bad: "не работало",
    worse: "не работало",
  },
};
