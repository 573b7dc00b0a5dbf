import type { Metadata } from 'next'
import { TaskLink } from './task-link'

export const metadata: Metadata = {
  title: 'Task',
  description: 'Somebody asks for your answer.',
  robots: { index: false, follow: false },
}

/**
 * One task, for whoever has a link to it. What opens it is behind the `#`, which no browser sends: neither this request
 * nor a log, a preview or a mail scanner has it. So opening the page cannot decide anything.
 */
export default function TaskLinkPage() {
  return (
    <>
      <noscript>To see this task, turn on JavaScript.</noscript>
      <TaskLink />
    </>
  )
}
