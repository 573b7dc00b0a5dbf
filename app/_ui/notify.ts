import { notifications } from '@mantine/notifications'
import { errorOf } from '@/app/_trpc/client'

/** Tells of something that happened elsewhere than where one looks. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000 })
}

/** Tells of a failed action in the server's words, with the request id. */
export function notifyError(error: unknown, title: string): void {
  const { message, details, requestId } = errorOf(error)
  const first = details[0] ? ` ${details[0].path ? `${details[0].path}: ` : ''}${details[0].message}` : ''
  const request = requestId ? ` (request ${requestId})` : ''
  notifications.show({ title, message: `${message}.${first}${request}`, color: 'red', autoClose: 12_000 })
}
