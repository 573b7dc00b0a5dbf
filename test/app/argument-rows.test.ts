import { MantineProvider } from '@mantine/core'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { ArgumentRows } from '@/app/(dashboard)/[tenant]/_arguments/argument-rows'
import { shapeOf } from '@/app/(dashboard)/[tenant]/_arguments/shape'
import { emptyValue } from '@/app/(dashboard)/[tenant]/_arguments/values'
import type { JsonValue } from '@/server/definition/json'

const rowsOf = (items: JsonValue, value: JsonValue) =>
  renderToStaticMarkup(
    createElement(
      MantineProvider,
      null,
      createElement(ArgumentRows, {
        path: '',
        shape: shapeOf({ type: 'object', properties: { list: { type: 'array', items } } }),
        value: { list: [value] },
        onChange: () => undefined,
        problemAt: () => null,
        idOf: (path: string) => path,
        readOnly: false,
      }),
    ),
  )

test.each<JsonValue>([{ type: 'number', default: 7 }, { type: 'boolean' }, { enum: ['first', 'second'] }])(
  'an emptied element of a list shows no value, and that one is missing: %o',
  (items) => {
    const markup = rowsOf(items, emptyValue(shapeOf(items)))
    const field = /<input(?=[^>]* id="list\[0\]")[^>]*>/.exec(markup)?.[0]
    expect(field).toBeDefined()
    expect(field).not.toMatch(/ value="[^"]/)
    expect(field).not.toContain('unless set')
    expect(markup).toContain('Enter a value, or remove this row.')
  },
)
