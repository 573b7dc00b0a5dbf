import { z } from 'zod'

/** A moment in an answer. */
export const time = (text: string) => z.iso.datetime().describe(`${text} ISO 8601 with milliseconds, in UTC.`)

/** A length of time in an answer. */
export const ms = (text: string) => z.int().min(0).describe(`${text} In milliseconds.`)
