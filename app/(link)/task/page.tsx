import type { Metadata } from 'next'
import { TaskLink } from './task-link'

export const metadata: Metadata = {
  title: 'Task',
  description: 'Someone asks for your answer.',
  robots: { index: false, follow: false },
}

/**
 * One task, for anyone with its link. The token stands behind the `#`, which browsers never send, so requests, logs,
 * previews and mail scanners do not have it. Opening the page therefore decides nothing.
 */
export default function TaskLinkPage() {
  return (
    <>
      <noscript>To see this task, turn on JavaScript.</noscript>
      <TaskLink />
    </>
  )
}
