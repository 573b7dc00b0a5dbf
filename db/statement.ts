import { sql as drizzleSql } from 'drizzle-orm'
import type { Db, Tx } from './types'

/** SQL as it is sent, with its parameters. A statement used in another one becomes part of it. */
export class Statement {
  constructor(
    private readonly strings: readonly string[],
    private readonly values: readonly unknown[],
  ) {}

  /** Appends the text to `parts`, with numbered places for the parameters, which go to `values`. */
  write(parts: string[], values: unknown[]): void {
    for (const [index, text] of this.strings.entries()) {
      parts.push(text)
      if (index === this.values.length) return
      const value = this.values[index]
      if (value instanceof Statement) {
        value.write(parts, values)
        continue
      }
      values.push(value)
      parts.push(`$${values.length}`)
    }
  }
}

/**
 * A statement written out in SQL: for the few that every run sends, where building them with Drizzle costs more than
 * running them. Parameters take their type from where they stand; JSON is passed as text.
 */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  return new Statement(strings, values)
}

/** Sends a statement over a pool or within a transaction. It is prepared once per connection and text. */
export async function send<Row>(db: Db | Tx, statement: Statement): Promise<Row[]> {
  if ('$client' in db) {
    const parts: string[] = []
    const values: unknown[] = []
    statement.write(parts, values)
    return (await db.$client.unsafe(parts.join(''), values as never[])) as unknown as Row[]
  }
  return (await db.execute(inDrizzle(statement))) as unknown as Row[]
}

/** A transaction's connection is Drizzle's. */
function inDrizzle(statement: Statement) {
  const parts: string[] = []
  const values: unknown[] = []
  statement.write(parts, values)
  const chunks = parts.join('').split(/\$\d+/)
  return drizzleSql.join(
    chunks.flatMap((text, index) =>
      index < values.length ? [drizzleSql.raw(text), drizzleSql`${values[index]}`] : [drizzleSql.raw(text)],
    ),
  )
}
