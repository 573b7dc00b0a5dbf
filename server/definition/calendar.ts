/** Whether a day exists, such as 29 February. JavaScript turns 31 February into a day in March. */
export function dayExists(year: number, month: number, day: number): boolean {
  // The calendar repeats every 400 years, and `Date.UTC` misreads years below 100.
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2_000 + (year % 400), month, 0)).getUTCDate()
}
