/** Chinese: keys, the list of incidents, what is written about one afterwards. */
import type { using as english } from "../en/using.ts";
import type { WordsOf } from "../text.ts";

export const using: WordsOf<typeof english> = {
  "shortcut.title": "按键",
  "shortcut.filter": "转到筛选",
  "shortcut.go": "转到概览、监控、事件、订阅、告警",
  "shortcut.move": "下一行、上一行",
  "shortcut.open": "打开该行",
  "shortcut.choose": "选择该行",
  "shortcut.pause": "暂停或恢复",
  "shortcut.acts": "转到页面按钮",
  "shortcut.help": "显示这些按键",
  "shortcut.off": "可在“账户”中关闭。",
  "report.title": "事后分析",
  "report.write": "撰写",
  "report.none": "为以后询问的人说明原因。",
  "report.heading": "给读者的标题",
  "report.headingHint": "例如：法兰克福无法访问。没有标题时，状态页会说明哪里出了故障。",
  "report.text": "原因",
  "report.textHint": "Markdown。",
  "incidents.severity": "严重程度",
  "incidents.anySeverity": "任意严重程度",
  "incidents.any": "已确认或未确认",
  "incidents.unacknowledged": "未确认",
  "incidents.from": "从",
  "incidents.to": "到",
  "incidents.noneFound": "没有匹配的事件。",
  "incidents.acknowledgeMany": "确认事件",
  "incidents.acknowledgeAll": { other: "确认全部 {n} 个" },
  "incidents.acknowledgeText": { other: "将确认 {n} 个事件，结束前不再提醒。" },
  "incidents.acknowledged": { other: "已确认 {n} 个事件。" },
};
