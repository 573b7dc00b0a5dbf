/** The service cannot start. The message contains the reason and the remedy. */
export class CannotStart extends Error {
  override name = 'CannotStart'
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** For errors. With `--json`, also for everything except the answer, because a script reads stdout. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Styled text on a terminal; plain text elsewhere or with NO_COLOR. */
export function styles(stream: NodeJS.WriteStream): Record<'bold' | 'dim' | 'red' | 'green', (text: string) => string> {
  const on = stream.isTTY && !process.env.NO_COLOR
  const style = (code: number) => (text: string) => (on ? `\u001b[${code}m${text}\u001b[0m` : text)
  return { bold: style(1), dim: style(2), red: style(31), green: style(32) }
}
