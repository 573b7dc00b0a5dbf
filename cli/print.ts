/** A start that cannot go on, told in one sentence a person can act on. */
export class CannotStart extends Error {
  override name = 'CannotStart'
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** For errors, and for all that is not the answer where stdout belongs to a script (`--json`). */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Bold and dim on a terminal, plain text anywhere else or with NO_COLOR. */
export function styles(stream: NodeJS.WriteStream): { bold(text: string): string; dim(text: string): string } {
  const on = stream.isTTY && !process.env.NO_COLOR
  const style = (code: number) => (text: string) => (on ? `\u001b[${code}m${text}\u001b[0m` : text)
  return { bold: style(1), dim: style(2) }
}
