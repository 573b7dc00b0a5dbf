/** How many runs, in words: `1 run`, `1,200 runs`. */
export function runsText(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'run' : 'runs'}`
}
