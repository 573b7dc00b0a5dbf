import { takeLongTurn } from '../platform/long-turn'
import { scenario } from './rounds'

scenario(
  'I47: a turn of 600 s on a platform whose steps take at most 240 s: it continues in parts and makes no call twice',
  1,
  async (soak) => {
    for (let round = 1; round <= soak.rounds; round++) {
      const { ms, parts } = await takeLongTurn({ callMs: 60_000, stepMs: 240_000, settings: {} }, soak.after)
      soak.say(`${(ms / 1_000).toFixed(1)} s in ${parts} parts`)
    }
  },
)
