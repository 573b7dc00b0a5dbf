import { assigneeText } from '../definition/people'
import { type Reminder, reminderText, shownReminder } from '../definition/reminder'
import { type ShownValue, shownText } from '../definition/shown'
import { serviceOrigin } from '../http/origin'
import { escaped, slackMarkdown } from './slack-markdown'

/** The parts of a message's data that Slack shows. */
interface RunFacts {
  runId: string
  workflowName: string
  businessKey: string | null
  startedVia: string
  error?: { message: string } | null
  cancellation?: { reason: string | null } | null
  givenTo?: string | null
  reminders?: Reminder[]
  pauseSignal?: {
    id: string
    stepId?: string
    title?: string
    message?: string
    show?: ShownValue[]
    dueAt?: string
  } | null
}

const MAX_TITLE = 150
/** Slack takes 3,000 characters per block, escapes included, and rejects the whole message if one has more. */
const MAX_TEXT = 2_900

const WAITS: Record<string, string> = {
  'run.paused': 'waits for an answer',
  'task.assigned': 'has a task',
  'task.overdue': 'waits for an answer that is overdue',
  'task.reminded': 'still waits for an answer',
}
const EVENTS: Record<string, string> = {
  'run.started': 'started',
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'was cancelled',
  'run.terminated': 'was terminated',
}

/**
 * A message for an incoming webhook of Slack: a line for notifications, and blocks with a button that opens the task or
 * the run after sign-in.
 */
export function slackBody(type: string, facts: RunFacts): string {
  const { runId, workflowName, businessKey, startedVia, pauseSignal } = facts
  const origin = serviceOrigin()
  const name = businessKey === null ? workflowName : `${workflowName} ${businessKey}`
  const run = `${line(name)}${startedVia === 'test' ? ' (test run)' : ''}`
  const waits = WAITS[type]
  if (waits) {
    const { id = '', stepId = '', title, message, show = [], dueAt } = pauseSignal ?? {}
    const asks = `${run} ${waits}: *${line(title?.trim() || stepId)}*`
    const details = [
      ...(facts.givenTo ? [`Given to ${line(facts.givenTo.replace(/^user:/, ''))}`] : lastReminder(facts)),
      ...(message?.trim() ? [slackMarkdown(message, MAX_TEXT)] : []),
      ...(show.length > 0 ? [card(show)] : []),
      ...(dueAt ? [`Due ${dateOf(dueAt)}`] : []),
    ]
    const task = `${origin}/task/${encodeURIComponent(runId)}/${encodeURIComponent(id)}`
    return written(asks, details, 'Open the task', task)
  }
  const reason = type === 'run.failed' ? facts.error?.message : facts.cancellation?.reason
  const url = `${origin}/r/${encodeURIComponent(runId)}`
  return written(
    `${run} ${EVENTS[type] ?? type}.`,
    reason?.trim() ? [escaped(reason, MAX_TEXT)] : [],
    'Open the run',
    url,
  )
}

function lastReminder({ reminders = [] }: RunFacts): string[] {
  const last = reminders.at(-1)
  return last ? [escaped(reminderText(shownReminder(last, (assignee) => assigneeText(assignee))), MAX_TEXT)] : []
}

function card(show: readonly ShownValue[]): string {
  return escaped(show.map(({ label, value }) => `${label}: ${shownText(value)}`).join('\n'), MAX_TEXT)
}

/** The body of *Send test*. */
export function slackTest(): string {
  return JSON.stringify({ text: 'A test message from Millrace. Messages about runs arrive here.' })
}

/** @param details in Slack's syntax */
function written(text: string, details: string[], label: string, url: string): string {
  const section = (mrkdwn: string) => ({ type: 'section', text: { type: 'mrkdwn', text: mrkdwn } })
  const button = { type: 'button', text: { type: 'plain_text', text: label }, url }
  const blocks = [section(text), ...details.map(section), { type: 'actions', elements: [button] }]
  return JSON.stringify({ text, blocks })
}

/** A time that Slack shows in each reader's own time zone. */
function dateOf(at: string): string {
  return `<!date^${Math.floor(Date.parse(at) / 1000)}^{date_short_pretty}, {time}|${at}>`
}

/** A name or a title, on one line. */
function line(text: string): string {
  return escaped(text.replace(/\s+/g, ' ').trim(), MAX_TITLE)
}
