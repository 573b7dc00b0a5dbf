import { z } from 'zod'

/** A time in a response. */
export const time = (text: string) => z.iso.datetime().describe(`${text} ISO 8601 with milliseconds, in UTC.`)

/** A duration in a response. */
export const ms = (text: string) => z.int().min(0).describe(`${text} In milliseconds.`)
