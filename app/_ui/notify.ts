import { notifications } from '@mantine/notifications'
import { errorOf } from '@/app/_trpc/client'

/** Confirms an action whose result is not in view. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000 })
}

/** Reports a failed action with the server's message and the request id. */
export function notifyError(error: unknown, title: string): void {
  const { message, details, requestId } = errorOf(error)
  const first = details[0] ? ` ${details[0].path ? `${details[0].path}: ` : ''}${details[0].message}` : ''
  const request = requestId ? ` (request ${requestId})` : ''
  notifications.show({ title, message: `${message}.${first}${request}`, color: 'red', autoClose: 12_000 })
}
