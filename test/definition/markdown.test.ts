import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainText } from '@/server/definition/markdown/link'
import { readMarkdown } from '@/server/definition/markdown/read'
import type { Block, Inline } from '@/server/definition/markdown/tree'
import { htmlOf } from '@/server/mail/html'

const text = (words: string): Inline => ({ kind: 'text', text: words })
const inline = (markdown: string) => {
  const [block] = readMarkdown(markdown)
  return block?.kind === 'paragraph' ? block.children : block
}

describe('Markdown of messages', () => {
  test('plain text stays unchanged, with its line breaks', () => {
    expect(readMarkdown('Dear all,\nplease check 5 * 3 * 2 and snake_case_name.\n\nThanks #1')).toEqual([
      {
        kind: 'paragraph',
        children: [text('Dear all,'), { kind: 'break' }, text('please check 5 * 3 * 2 and snake_case_name.')],
      },
      { kind: 'paragraph', children: [text('Thanks #1')] },
    ])
  })

  test.each<[string, Inline[]]>([
    ['a **b** c', [text('a '), { kind: 'strong', children: [text('b')] }, text(' c')]],
    ['*a* _b_', [{ kind: 'em', children: [text('a')] }, text(' '), { kind: 'em', children: [text('b')] }]],
    ['***a***', [{ kind: 'em', children: [{ kind: 'strong', children: [text('a')] }] }]],
    ['**a*b**', [{ kind: 'strong', children: [text('a*b')] }]],
    ['~~old~~ ~x~', [{ kind: 'del', children: [text('old')] }, text(' ~x~')]],
    ['`a *b*` ``c`d``', [{ kind: 'code', text: 'a *b*' }, text(' '), { kind: 'code', text: 'c`d' }]],
    ['\\*a\\* **open', [text('*a* **open')]],
    ['**', [text('**')]],
  ])('marks: %s', (markdown, pieces) => {
    expect(inline(markdown)).toEqual(pieces)
  })

  test('blocks: headings, lists in lists, quotes, code, rules and tables', () => {
    const markdown = [
      '## Order ##',
      '- one',
      '  - *in* it',
      '- two',
      'goes on',
      '',
      '3. three',
      '4. four',
      '',
      '> said',
      '> so',
      '---',
      '```js',
      'a < b',
      '',
      '```',
      '| Item | Price |',
      '|:-----|------:|',
      '| a \\| b | 1 |',
      '| c |',
    ].join('\n')
    const paragraph = (...children: Inline[]): Block => ({ kind: 'paragraph', children })
    expect(readMarkdown(markdown)).toEqual([
      { kind: 'heading', level: 2, children: [text('Order')] },
      {
        kind: 'list',
        start: null,
        items: [
          [
            paragraph(text('one')),
            {
              kind: 'list',
              start: null,
              items: [[paragraph({ kind: 'em', children: [text('in')] }, text(' it'))]],
            },
          ],
          [paragraph(text('two'), { kind: 'break' }, text('goes on'))],
        ],
      },
      { kind: 'list', start: 3, items: [[paragraph(text('three'))], [paragraph(text('four'))]] },
      { kind: 'quote', children: [paragraph(text('said'), { kind: 'break' }, text('so'))] },
      { kind: 'rule' },
      { kind: 'code', text: 'a < b\n' },
      {
        kind: 'table',
        align: ['left', 'right'],
        head: [[text('Item')], [text('Price')]],
        rows: [
          [[text('a | b')], [text('1')]],
          [[text('c')], []],
        ],
      },
    ])
  })

  test('a short text does not become a huge table', () => {
    const wide = `${'a|'.repeat(500)}\n${'-|'.repeat(500)}\n${'|\n'.repeat(500)}`
    expect(JSON.stringify(readMarkdown(wide)).length).toBeLessThan(100_000)
    const long = `a|b\n-|-\n${'|\n'.repeat(20_000)}`
    expect(JSON.stringify(readMarkdown(long)).length).toBeLessThan(2_000_000)
  })

  test('a link says where it leads, unless its text is its address', () => {
    const link = (href: string, host: string | null, words: string): Inline => ({
      ...{ kind: 'link', href, host },
      children: [text(words)],
    })
    expect(inline('[Approve](https://evil.example/x "t")')).toEqual([
      link('https://evil.example/x', 'evil.example', 'Approve'),
    ])
    expect(inline('[https://bank.example](https://evil.example)')).toEqual([
      link('https://evil.example/', 'evil.example', 'https://bank.example'),
    ])
    expect(inline('see https://a.example/b_(c), or <mailto:a@b.example>.')).toEqual([
      text('see '),
      link('https://a.example/b_(c)', null, 'https://a.example/b_(c)'),
      text(', or '),
      link('mailto:a@b.example', null, 'a@b.example'),
      text('.'),
    ])
    for (const [said, host] of [
      ['https://bank.example@evil.example/', 'evil.example'],
      ['https://аррӏе.com/', 'xn--80ak6aa92e.com'],
      ['https://bank.example⁄login.evil.example/x', undefined],
    ])
      expect(inline(said ?? ''), said).toMatchObject([{ host: host ?? expect.stringContaining('evil.example') }])
    expect(inline('[x](https://bank.example@evil.example)')).toEqual([
      link('https://evil.example/', 'evil.example', 'x'),
    ])
  })

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '/inbox',
    '//evil.example',
    'file:///etc/passwd',
    'vbscript:x',
  ])('%s is no address of a link', (address) => {
    expect(JSON.stringify(readMarkdown(`[a](${address}) <${address}> ![i](${address})`))).not.toContain('"link"')
  })

  test('an image is a link, and HTML is text', () => {
    expect(htmlOf('![Plan](https://a.example/p.png) <img src=x onerror=alert(1)><script>x</script>')).toBe(
      '<p style="margin:0 0 12px"><a href="https://a.example/p.png" rel="noopener noreferrer nofollow">Plan</a> (a.example) ' +
        '&lt;img src=x onerror=alert(1)&gt;&lt;script&gt;x&lt;/script&gt;</p>',
    )
  })

  test('no text makes an element that Markdown does not have, and none loses its words', () => {
    const allowed =
      /^<\/?(?:p|h3|blockquote|pre|hr|ul|ol|li|table|tr|th|td|a|br|code|strong|em|del)(?: [a-z]+="[^"<>]*")*>/
    const piece = fc.constantFrom(
      ...['*', '**', '_', '~~', '`', '[', '](', ')', '<', '>', '"', '|', '-', '\n', ' ', '#'],
    )
    const word = fc.stringMatching(/^[a-zé]{1,5}$/)
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, word), { maxLength: 60 }), (parts) => {
        const markdown = parts.join('')
        const html = htmlOf(markdown)
        for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) {
          expect(html.slice(at)).toMatch(allowed)
        }
        // The words of a fence's first line name its language, and those of a link's title are not shown.
        if (markdown.includes('```') || markdown.includes('](') || markdown.includes('~~~')) return
        const letters = (all: string) => all.replace(/[^a-zé]/g, '')
        const shown = readMarkdown(markdown)
        if (shown.some(({ kind }) => kind === 'table')) return
        expect(letters(shown.map(wordsOf).join(''))).toBe(letters(markdown))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    '*',
    '_',
    '`',
    '[',
    '[](',
    '**a ',
    '> ',
    '- ',
    '  - a\n',
    '|',
    '~~',
    '<https://',
    'https://a.b/(',
    '![',
    '`a``b',
  ])('10,000 characters of %s are read at once', (part) => {
    const markdown = part.repeat(Math.ceil(10_000 / part.length)).slice(0, 10_000)
    const start = performance.now()
    expect(htmlOf(markdown).length).toBeGreaterThan(0)
    expect(performance.now() - start).toBeLessThan(500)
  })
})

function wordsOf(block: Block): string {
  switch (block.kind) {
    case 'paragraph':
    case 'heading':
      return plainText(block.children)
    case 'list':
      return block.items.flat().map(wordsOf).join('')
    case 'quote':
      return block.children.map(wordsOf).join('')
    case 'code':
      return block.text
    default:
      return ''
  }
}
