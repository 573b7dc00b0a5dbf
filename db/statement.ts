import { sql as drizzleSql } from 'drizzle-orm'
import type { Db, Tx } from './types'

/** SQL with its parameters. A statement used in another one becomes part of it. */
export class Statement {
  constructor(
    private readonly strings: readonly string[],
    private readonly values: readonly unknown[],
  ) {}

  /** The whole statement: its texts, and the parameters between them. */
  flat(into: Flat = { texts: [''], values: [] }): Flat {
    for (const [index, text] of this.strings.entries()) {
      into.texts.push(`${into.texts.pop()}${text}`)
      if (index === this.values.length) break
      const value = this.values[index]
      if (value instanceof Statement) {
        value.flat(into)
        continue
      }
      into.values.push(value)
      into.texts.push('')
    }
    return into
  }
}

interface Flat {
  texts: string[]
  values: unknown[]
}

/**
 * A statement written out in SQL: for the few that every run sends, where building them with Drizzle costs more than
 * running them. The type of a parameter follows from its position; JSON is passed as text.
 */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  return new Statement(strings, values)
}

/** A value as a parameter of type `jsonb`. */
export function jsonb(value: unknown): Statement {
  return sql`${JSON.stringify(value)}::jsonb`
}

/** Sends a statement over a pool or within a transaction. It is prepared once per connection and text. */
export async function send<Row>(db: Db | Tx, statement: Statement): Promise<Row[]> {
  const { texts, values } = statement.flat()
  if ('$client' in db) {
    const text = texts.reduce((all, next, index) => `${all}$${index}${next}`)
    return (await db.$client.unsafe(text, values as never[])) as unknown as Row[]
  }
  // A transaction's connection is Drizzle's.
  const [first = '', ...rest] = texts
  const chunks = rest.flatMap((text, index) => [drizzleSql`${values[index]}`, drizzleSql.raw(text)])
  return (await db.execute(drizzleSql.join([drizzleSql.raw(first), ...chunks]))) as unknown as Row[]
}
