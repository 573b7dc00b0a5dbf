import { listed } from '@/lib/listed'
import type { QuestionPart } from '@/server/runs/moves/changes'

const WORDS: Record<QuestionPart, string> = {
  fields: 'the form',
  actions: 'the choices',
  needs: 'the number of votes',
  remark: 'the remark',
  noSelfApproval: 'whether the starter may answer',
  title: 'the title',
  message: 'the message',
  show: 'the values shown',
  assignees: 'the assignees',
  dueAt: 'the due time',
  reminders: 'the reminders',
  expiresAt: 'the time at which it ends',
  event: 'the event',
}

/** What differs between two questions: the title and the choices. */
export function partsText(what: readonly QuestionPart[]): string {
  return listed(what.map((part) => WORDS[part]))
}
