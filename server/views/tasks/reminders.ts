import type { ServiceContext } from '../../context'
import { type Reminder, type ShownReminder, shownReminder } from '../../definition/reminder'
import type { Masker } from '../../vault/mask'
import { nameAssignees } from './people'

/** The reminders about tasks, and their hand-overs, for display. Tasks without any cost no query. */
export async function readReminders(
  ctx: ServiceContext,
  tasks: readonly { id: string; reminders: readonly Reminder[] | null }[],
  masker: Masker,
): Promise<(pauseId: string) => ShownReminder[]> {
  const all = tasks.flatMap(({ reminders }) => reminders ?? [])
  if (all.length === 0) return () => []
  const nameOf = await nameAssignees(
    ctx,
    all.flatMap((one) => ('to' in one ? (one.to ?? []) : one.handedTo)),
  )
  const shown = new Map(
    tasks.map(({ id, reminders }) => [
      id,
      (reminders ?? []).map((one) => shownReminder(one, (assignee) => masker.text(nameOf(assignee)))),
    ]),
  )
  return (pauseId) => shown.get(pauseId) ?? []
}
