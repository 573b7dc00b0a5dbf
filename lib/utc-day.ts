/** The day in UTC, as in `2026-11-30`. */
export const utcDay = (at: Date) => at.toISOString().slice(0, 10)
