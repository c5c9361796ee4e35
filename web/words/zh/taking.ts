/** Chinese, simplified: what is kept of forms, and taken away as files. */
import type { taking as english } from "../en/taking.ts";
import type { WordsOf } from "../text.ts";

export const taking: WordsOf<typeof english> = {
  "draft.kept": "您之前在此填写的内容仍然保留。",
  "draft.anew": "重新开始",
  "new.adding": "已添加",
  "import.reading": "正在读取文档，较大的文档需要一些时间。",
  "import.export": "下载此项目",
  "import.exportHint": "整个项目的文档：监控项、渠道、规则、状态页。其中不含机密信息。",
  "import.exported": { other: "文档已保存。其中不含 {n} 项机密信息，以变量代替。" },
  "subscription.copyLinks": "复制可用链接",
  "subscription.editTitle": "编辑订阅",
  "subscription.every": "每 {duration}",
  "subscription.timeout": "超时 {duration}",
  "subscription.atOnce": "同时 {n} 个",
  "subscription.syncIntervalSec": "读取间隔（秒）",
  "subscription.timeoutSeconds": "每台服务器的超时（秒）",
  "subscription.maxWorkers": "同时检测的服务器数",
  "subscription.configAlertPercent": "可用比例低于此值时告警（%）",
  "field.wholeNumber": "请填写整数。",
  "keys.usageOf": "{name} 的用量",
  "usage.days7": "最近 7 天",
  "usage.days30": "最近 30 天",
  "page.updateDeleted": "读者不再看到它。",
  "account.hours": "时间格式",
  "account.hours.auto": "随语言",
  "account.hours.12": "12 小时制",
  "account.hours.24": "24 小时制",
  "account.zone.device": "本设备",
};
