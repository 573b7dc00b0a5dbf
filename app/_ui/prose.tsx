/** Text from the OpenAPI document: paragraphs, with code between backticks. */
export function Prose({ text, className }: { text: string; className?: string | undefined }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph} className={className}>
      <Inline text={paragraph} />
    </p>
  ))
}

export function Inline({ text }: { text: string }) {
  // Every second part is code. Parts may repeat, so only positions identify them.
  return text.split('`').map((part, place) => {
    const key = `${place} ${part}`
    return place % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>
  })
}
