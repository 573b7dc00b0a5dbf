import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { errorOf } from '@/app/_trpc/client'

/** Confirms an action whose result is not in view. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000 })
}

/** Confirms what may happen again soon, in the place of the last time. */
export function notifyLatest(id: string, message: string): void {
  notifications.hide(id)
  notifications.show({ id, message, color: 'green', autoClose: 4_000 })
}

/** Reports a failed action with the server's message and the request id. */
export function notifyError(error: unknown, title: string): void {
  const { code, message, details, requestId } = errorOf(error)
  const first = details[0] ? ` ${details[0].path ? `${details[0].path}: ` : ''}${details[0].message}` : ''
  const text = `${message}.${first}`
  // Only the service's own codes have a page; its errors have a request.
  const link = { href: `/errors/${code}`, target: '_blank' }
  const shown = requestId
    ? createElement('span', null, `${text} (request ${requestId}) `, createElement('a', link, 'What to do'))
    : text
  notifications.show({ title, message: shown, color: 'red', autoClose: 12_000 })
}
