import { type ShownValue, shownText } from '../definition/shown'
import { escaped, htmlOf, paragraph } from './html'

/** The content of a mail about a task, already masked. */
export interface TaskMail {
  kind: 'assigned' | 'given' | 'overdue' | 'reminder' | 'handed' | 'asked again'
  /** Who gave them the task, if known. */
  givenBy: string | null
  /** How many reminders there were so far. */
  reminders: number
  name: string
  workspace: string
  title: string
  message: string | null
  /** The values that the author chose to show, label by label. */
  show: ShownValue[]
  dueAt: Date | null
  expiresAt: Date | null
  /** The task in the inbox. */
  inbox: string
  /** A link that answers it without signing in; null if a link cannot answer the task. */
  link: string | null
  preferences: string
}

const MAX_MESSAGE = 4_000
const MAX_SHOWN = 1_000
const MAX_SUBJECT = 150

/** The mail as plain text, and as simple HTML with the same content. */
export function mailContent(mail: TaskMail): { subject: string; text: string; html: string } {
  const { kind, name, workspace, inbox, link, preferences } = mail
  const title = oneLine(mail.title)
  const opening = openingOf(mail)
  const message = mail.message === null || mail.message === '' ? null : shortened(mail.message, MAX_MESSAGE)
  const card = mail.show.map((one) => [oneLine(one.label), shortened(shownText(one.value), MAX_SHOWN)] as const)
  const dates = [
    ...(mail.dueAt ? [`${kind === 'overdue' ? 'It was due' : 'Due'}: ${dateText(mail.dueAt)}`] : []),
    ...(mail.expiresAt ? [`Can be answered until: ${dateText(mail.expiresAt)}`] : []),
  ]
  const why = `You get this because you are asked to answer this task in ${workspace}.`
  const text = [
    `Hello ${name},`,
    opening,
    title,
    ...(message ? [message] : []),
    ...(card.length > 0 ? [card.map(([label, value]) => `${label}: ${value}`).join('\n')] : []),
    ...(dates.length > 0 ? [dates.join('\n')] : []),
    ...(link
      ? [`Answer without signing in:\n${link}\nThis works once and in your name, so do not forward this mail.`]
      : []),
    `Open it in Millrace:\n${inbox}`,
    ['-- ', why, `Turn these mails off: ${preferences}`].join('\n'),
  ].join('\n\n')
  const html = [
    paragraph(`Hello ${escaped(name)},`),
    paragraph(escaped(opening)),
    `<h2 style="font-size:18px;margin:0 0 12px">${escaped(title)}</h2>`,
    ...(message ? [htmlOf(message)] : []),
    ...(card.length > 0 ? [cardHtml(mail.show)] : []),
    ...(dates.length > 0 ? [paragraph(dates.map(escaped).join('<br>'))] : []),
    paragraph(
      link
        ? `${button(link, 'Answer without signing in')} &nbsp; <a href="${escaped(inbox)}">Open it in Millrace</a>`
        : button(inbox, 'Open it in Millrace'),
    ),
    ...(link ? [small('The button works once and in your name, so do not forward this mail.')] : []),
    small(`${escaped(why)}<br><a href="${escaped(preferences)}" style="color:#666">Turn these mails off</a>`),
  ].join('\n')
  return {
    subject: `${PREFIXES[kind] ?? ''}${shortened(title, MAX_SUBJECT)} (${shortened(oneLine(workspace), MAX_SUBJECT)})`,
    text: `${text}\n`,
    html: `<!doctype html><html lang="en"><body style="font-family:system-ui,sans-serif;font-size:15px;line-height:1.5;color:#1a1a1a;max-width:36em">\n${html}\n</body></html>\n`,
  }
}

const PREFIXES: Partial<Record<TaskMail['kind'], string>> = { overdue: 'Overdue: ', reminder: 'Reminder: ' }

function openingOf({ kind, givenBy, reminders, workspace }: TaskMail): string {
  switch (kind) {
    case 'assigned':
      return `${workspace} asks for your answer:`
    case 'asked again':
      return `${workspace} asks for your answer again, because the question has changed:`
    case 'given':
      return `${givenBy ?? 'Somebody'} asks you to take care of this task of ${workspace}:`
    case 'overdue':
      return `Your answer is overdue. ${workspace} still waits for it:`
    case 'reminder':
      return `This is ${reminders > 1 ? `reminder ${reminders}` : 'a reminder'}. ${workspace} still waits for your answer:`
    case 'handed': {
      const after = reminders === 1 ? 'a reminder' : `${reminders} reminders`
      return `${workspace} asks for your answer, because nobody gave one after ${after}:`
    }
  }
}

/** Removes line breaks, other controls and marks that change the reading direction: so the text can be a header. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

function shortened(text: string, most: number): string {
  const chars = [...text]
  return chars.length <= most ? text : `${chars.slice(0, most).join('')}…`
}

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' })

function dateText(date: Date): string {
  return `${DATE.format(date)} UTC`
}

function small(html: string): string {
  return `<p style="margin:0 0 12px;color:#666;font-size:13px">${html}</p>`
}

function button(href: string, label: string): string {
  return `<a href="${escaped(href)}" style="display:inline-block;padding:10px 16px;border-radius:6px;background:#1f5fa8;color:#fff;text-decoration:none">${escaped(label)}</a>`
}

/** Labels and values; a value is Markdown if its author says so. */
function cardHtml(show: readonly ShownValue[]): string {
  const rows = show.map(({ label, value, markdown }) => {
    const text = shortened(shownText(value), MAX_SHOWN)
    const cell = markdown ? htmlOf(text) : escaped(text).replaceAll('\n', '<br>')
    return `<tr><th style="text-align:left;vertical-align:top;font-weight:normal;color:#666;padding:4px 16px 4px 0">${escaped(oneLine(label))}</th><td style="padding:4px 0">${cell}</td></tr>`
  })
  return `<table style="border-collapse:collapse;margin:0 0 12px">${rows.join('')}</table>`
}
