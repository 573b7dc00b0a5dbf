/**
 * The statements used by some sixty test files of the interpreter, runs, steps and the API, by the names at their end.
 * Add further ones here.
 */
export const SHAPES = `
claim of visit, move walk, finish visit, begin visit, move run
claim of visit, move walk, finish visit, begin visit, move run, open pause, notify
claim of visit, move walk, finish visit, begin visit, move run, open pause, queue job, notify
claim of visit, move walk, finish visit, end run, end other walks, notify
claim of visit, move walk, finish visit, insert visits, end run, end other walks, notify
claim of visit, move walk, finish visit, insert visits, move run
claim of visit, move walk, finish visit, insert visits, move run, open pause, notify
claim of visit, move walk, finish visit, move run
claim of visit, move walk, finish visit, take answer, begin visit, move run
claim of visit, move walk, finish visit, take answer, begin visit, move run, open pause, notify
claim of visit, move walk, finish visit, take answer, begin visit, move run, queue job
claim of visit, move walk, finish visit, take answer, end run, end other walks, notify
claim of visit, move walk, finish visit, take answer, end run, end other walks, queue job, notify
claim of visit, move walk, finish visit, take answer, insert visits, end run, end other walks, notify
claim of visit, move walk, finish visit, take answer, insert visits, end run, end other walks, queue job, notify
claim of visit, move walk, finish visit, take answer, insert visits, move run
claim of visit, move walk, finish visit, take answer, insert visits, move run, open pause, notify
claim of visit, move walk, finish visit, take answer, insert visits, move run, queue job
claim of visit, move walk, finish visit, take answer, move run
claim, move walk, begin visit, move run
claim, move walk, begin visit, move run, open pause, notify
claim, move walk, begin visit, move run, open pause, queue job, notify
claim, move walk, begin visit, move run, tool stamp
claim, move walk, insert visits, end run, end other walks, notify
claim, move walk, insert visits, end run, end other walks, queue job, notify
claim, move walk, insert visits, end run, end other walks, send event, notify
claim, move walk, insert visits, move run
claim, move walk, insert visits, move run, open pause, notify
claim, move walk, move run
held, end run, end walks, notify
held, end run, end walks, queue job, notify
held, end run, end walks, send event, notify
held, finish visit
held, finish visit, take answer
held, move run
held, move run, notify
held, move walk
held, open pause, move run, notify
held, open pause, move run, queue job, notify
held, open pause, move run, send event, notify
held, store answer, stored
known caller, claim of visit, move walk, finish visit, take answer, insert visits, end run, end other walks, notify
known caller, start, begin visit, insert run, insert walk, open pause, notify
known caller, start, insert run, insert walk, queue job
known caller, start, insert visits, insert run, insert walk, notify
known caller, start, insert visits, insert run, insert walk, vault, notify
owner of visit, finish visit, begin visit, move run
owner of visit, finish visit, begin visit, move run, tool stamp
owner of visit, finish visit, end run, end walks, notify
owner of visit, finish visit, end run, end walks, queue job, notify
owner of visit, finish visit, end run, end walks, vault, notify
owner of visit, finish visit, insert visits, end run, end walks, notify
owner of visit, finish visit, insert visits, end run, end walks, vault, notify
owner of visit, finish visit, insert visits, move run
owner of visit, finish visit, take answer, begin visit, move run
owner of visit, finish visit, take answer, end run, end walks, notify
owner of visit, finish visit, take answer, end run, end walks, send event, notify
owner of visit, finish visit, take answer, insert visits, end run, end walks, notify
owner of visit, finish visit, take answer, insert visits, end run, end walks, send event, notify
owner of visit, finish visit, take answer, insert visits, move run
owner of visit, move walk, finish visit, begin visit, move run
owner of visit, move walk, finish visit, begin visit, move run, open pause, notify
owner of visit, move walk, finish visit, insert visits, move run
owner of visit, move walk, finish visit, insert visits, move run, open pause, notify
owner of visit, move walk, finish visit, move run
owner of visit, move walk, finish visit, take answer, begin visit, move run
owner of visit, move walk, finish visit, take answer, insert visits, move run
owner of visit, move walk, finish visit, take answer, move run
start, begin visit, insert run, insert walk, open pause, notify
start, begin visit, insert run, insert walk, open pause, queue job, notify
start, begin visit, insert run, insert walk, queue job
start, begin visit, insert run, insert walk, queue job, tool stamp
start, insert run, insert walk, queue job
start, insert run, insert walk, send event
start, insert visits, insert run, insert walk, notify
start, insert visits, insert run, insert walk, open pause, notify
start, insert visits, insert run, insert walk, queue job
start, insert visits, insert run, insert walk, queue job, tool stamp
start, insert visits, insert run, insert walk, vault, notify`
  .trim()
  .split('\n')
