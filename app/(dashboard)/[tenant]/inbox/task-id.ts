import type { CountTasks, ListTasks } from '@/server/views/tasks/schema'

/** A task's id in the URL: run id, colon, pause id. The run id contains no colon. */
export function idOf(task: { runId: string; pauseId: string } | undefined): string {
  return task ? `${task.runId}:${task.pauseId}` : ''
}

export function readTaskId(text: string): { runId: string; pauseId: string } | null {
  const colon = text.indexOf(':')
  return colon > 0 ? { runId: text.slice(0, colon), pauseId: text.slice(colon + 1) } : null
}

/** The tab of an inbox whose URL names none. */
export type FirstView = 'mine' | 'open'

/** Whether the URL leaves the tab to the inbox: one that names a task is about that task, also if it is for another person. */
export function namesNoView(get: (name: string) => string): boolean {
  return get('view') === '' && get('task') === ''
}

/**
 * The queue's query from the URL, without values that the screen does not offer.
 * @param first the tab if the URL leaves it to the inbox
 */
export function inputOf(get: (name: string) => string, first: FirstView): Omit<ListTasks, 'cursor'> {
  const workflowId = get('workflow')
  const type = get('type')
  const view = namesNoView(get) ? first : get('view')
  const q = get('q').trim().slice(0, 200)
  return {
    ...(view === 'mine' || view === 'roles' || view === 'done' ? { view } : {}),
    ...(get('by') && view === 'done' ? { byMe: true } : {}),
    ...(q ? { q } : {}),
    ...(get('tests') ? { tests: true } : {}),
    ...(/^[\w-]{1,80}$/.test(workflowId) ? { workflowId } : {}),
    ...(type === 'collect_inputs' || type === 'request_user_action' ? { type } : {}),
    ...(get('sort') === 'newest' ? { sort: 'newest' } : {}),
  }
}

/** The filters of every view. */
export function filterOf({ q, tests, workflowId, type }: Omit<ListTasks, 'cursor'>): CountTasks {
  return {
    ...(q === undefined ? {} : { q }),
    ...(tests === undefined ? {} : { tests }),
    ...(workflowId === undefined ? {} : { workflowId }),
    ...(type === undefined ? {} : { type }),
  }
}
