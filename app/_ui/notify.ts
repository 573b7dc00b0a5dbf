import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { WhatToDo } from './error-code'
import { named } from './sentence'

/** Confirms an action whose result is not in view. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000 })
}

/** Confirms an action that may soon repeat; replaces the previous confirmation. */
export function notifyLatest(id: string, message: string): void {
  notifications.hide(id)
  notifications.show({ id, message, color: 'green', autoClose: 4_000 })
}

/** Reports a failed action with the server's message and the request id. */
export function notifyError(error: unknown, title: string): void {
  const { code, message, details, requestId } = errorOf(error)
  const first = details[0] ? ` ${named(details[0].path, details[0].message)}` : ''
  const text = `${message.replace(/\.$/, '')}.${first} ${requestId ? `(request ${requestId}) ` : ''}`
  const shown = createElement('span', null, text, createElement(WhatToDo, { code }))
  notifications.show({ title, message: shown, color: 'red', autoClose: 12_000 })
}
