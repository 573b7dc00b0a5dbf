import { z } from 'zod'
import { AppError } from '../errors'
import { parseInput } from '../parse'

/**
 * A proxy that compresses may change a tag; it still names the version: nginx makes it weak, Apache and others append
 * the encoding, as in `"3-gzip"`.
 */
const QUOTED = /^(?:W\/)?"(\d{1,9})(?:--?(?:gzip|br|zstd|deflate))?"$/

/**
 * An `If-Match` header: `"3"`, a list of such tags, or `*` for any version. Absent also means any.
 */
const IfMatch = z
  .string()
  .nullish()
  .transform((header, check): number[] | null => {
    if (header === null || header === undefined || header.trim() === '*') return null
    const tags = header.split(',').map((tag) => QUOTED.exec(tag.trim())?.[1])
    if (tags.every((tag) => tag !== undefined)) return tags.map(Number)
    check.addIssue({ code: 'custom', message: 'must be the version in double quotes, such as "3", or *' })
    return z.NEVER
  })

/** @throws AppError INVALID_INPUT */
export function readIfMatch(header: string | null | undefined): number[] | null {
  return parseInput(z.object({ 'If-Match': IfMatch }), { 'If-Match': header })['If-Match']
}

/**
 * Compares the version the caller last saw with the current one. The row must be locked.
 * @throws AppError VERSION_CONFLICT with the current version in its details
 */
export function expectVersion(
  row: { version: number },
  expected: { ifMatch: number[] | null; version?: number | null | undefined },
): void {
  const wrong = (path: string, sent: number[]) =>
    new AppError('VERSION_CONFLICT', {
      details: [
        {
          path,
          message: `The current version is ${row.version}, not ${sent.join(' or ')}.`,
          currentVersion: row.version,
        },
      ],
    })
  if (expected.ifMatch && !expected.ifMatch.includes(row.version)) throw wrong('If-Match', expected.ifMatch)
  if (typeof expected.version === 'number' && expected.version !== row.version)
    throw wrong('version', [expected.version])
}
