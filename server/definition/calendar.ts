/** Whether there is such a day, such as 29 February. JavaScript takes 31 February for a day in March. */
export function dayExists(year: number, month: number, day: number): boolean {
  // Years repeat every 400, and those below 100 would be taken for others.
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2_000 + (year % 400), month, 0)).getUTCDate()
}
