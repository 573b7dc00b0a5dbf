/** How a message begins that leaves out what it is about. */
const LEAVES_OUT =
  /^(?:is|are|was|were|has|have|had|must|may|can|cannot|does|do|would|will|needs|contains|names|refers|differs|declares|gives|ends|starts|starts with|begins|belongs|exceeds|or|matches)\b/

/**
 * The service's message about a value, as a sentence under the value's field. The service leaves out the name of the
 * value, for lists in which it precedes the message: `must not be empty`.
 */
export function underField(message: string): string {
  return message === 'is required' ? 'Required' : asSentence(message)
}

/** A message that stands alone. One that begins with a name of the definition keeps it as it is written. */
export function asSentence(message: string): string {
  return LEAVES_OUT.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message
}

/** A message behind the name that it is about: `name must not be empty`, but `name: The text is too long.` */
export function named(name: string | undefined, message: string): string {
  if (!name) return asSentence(message)
  return LEAVES_OUT.test(message) ? `${name} ${message}` : `${name}: ${message}`
}
