import type { KeyboardEvent } from 'react'

/** The handler of a field or form that is sent with Ctrl+Enter, or Command+Enter on a Mac. */
export function onSendKey(send: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    send()
  }
}
