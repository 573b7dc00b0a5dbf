import { Fragment } from 'react'

/** Words between backticks are code. */
export function Text({ text }: { text: string }) {
  return text.split('`').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
    <Fragment key={index}>{index % 2 ? <code>{part}</code> : part}</Fragment>
  ))
}
