import { expect, test } from 'vitest'
import { shortcutKey } from '@/app/_ui/keys'

test.each([
  [{ key: 'z', code: 'KeyZ' }, 'z'],
  // A German keyboard has Z where an American one has Y; a Dvorak keyboard has every letter elsewhere.
  [{ key: 'z', code: 'KeyY' }, 'z'],
  [{ key: ';', code: 'KeyZ' }, ';'],
  [{ key: 'ö', code: 'Semicolon' }, 'ö'],
  [{ key: 'я', code: 'KeyZ' }, 'z'],
  [{ key: 'Ф', code: 'KeyA', shiftKey: true }, 'A'],
  [{ key: 'ω', code: 'KeyV' }, 'v'],
  [{ key: 'ю', code: 'Period' }, '.'],
  [{ key: 'ж', code: 'Semicolon' }, 'ж'],
  [{ key: 'Enter', code: 'Enter' }, 'Enter'],
  [{ key: '/', code: 'Slash' }, '/'],
])('a shortcut means the same on every layout: %o is %s', (event, expected) => {
  expect(shortcutKey({ shiftKey: false, ...event })).toBe(expected)
})
