'use client'
import { Button, NativeSelect, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { isRule, type Rule, readRule, type Test, writeRule } from '../model/rule'
import { isIncomplete } from '../model/rule-words'
import { AddRow, RemoveRow } from './row-tools'
import styles from './rule.module.css'
import { RuleRow } from './rule-row'
import { newRow, type Row } from './use-rows'

type Tests = { tests: Row<Test>[] }
/** A row is a comparison, or a group of them, which joins them the other way. */
type Part = Row<Test> | Row<Tests>
interface Shown {
  join: Rule['join']
  parts: Part[]
}

const isGroup = (part: Part): part is Row<Tests> => 'tests' in part
const other = (join: Rule['join']) => (join === 'all' ? 'any' : 'all')
const emptyTest = (): Row<Test> => newRow<Test>({ field: '', operator: 'is', value: null })

/** The rows of a rule. An incomplete row stays on screen; the expression changes once all rows are complete. */
export function RuleBuilder(props: {
  name: string
  of: string | undefined
  text: string
  rule: Rule
  onChange: (text: string) => void
  readOnly: boolean
}) {
  const { name, of, text, rule, onChange, readOnly } = props
  const [shown, setShown] = useState(() => shownOf(rule))
  const last = useRef(text)
  // A value from elsewhere, such as undo.
  useEffect(() => {
    if (text === last.current) return
    last.current = text
    setShown(shownOf(readRule(text) ?? { join: 'all', parts: [] }))
  }, [text])
  function change(next: Shown) {
    // A group that lost all but one of its rows is a row.
    const parts = next.parts.flatMap((part) => (isGroup(part) && part.tests.length < 2 ? part.tests : [part]))
    setShown({ ...next, parts })
    if (testsOf(parts).some(isIncomplete)) return
    const written = writeRule(ruleOf({ ...next, parts }))
    if (written === last.current) return
    last.current = written
    onChange(written)
  }
  const { join, parts } = shown
  const replace = (key: number, by: Part[]) =>
    change({ join, parts: parts.flatMap((part) => (part.key === key ? by : [part])) })
  const incomplete = testsOf(parts).some(isIncomplete)
  return (
    <Stack gap={6}>
      {parts.length === 0 && (
        <Text size="sm" c="dimmed">
          {text.trim() === '' ? 'No rule yet.' : 'Always true. Add a rule to decide by data.'}
        </Text>
      )}
      {parts.length > 1 && (
        <NativeSelect
          aria-label={`How the rules of ${name} are joined`}
          data={[
            { value: 'all', label: 'All of these are true' },
            { value: 'any', label: 'At least one of these is true' },
          ]}
          value={join}
          disabled={readOnly}
          onChange={(event) => change({ join: event.currentTarget.value === 'any' ? 'any' : 'all', parts })}
        />
      )}
      {parts.map((part, index) => {
        const label = `rule ${index + 1} of ${name}`
        if (!isGroup(part)) {
          return (
            <div key={part.key} className={styles.part}>
              <RuleRow
                label={label}
                of={of}
                test={part}
                onChange={(test) => replace(part.key, [{ ...part, ...test }])}
                readOnly={readOnly}
              />
              {!readOnly && (
                <div className={styles.tools}>
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="gray"
                    onClick={() => replace(part.key, [newRow<Tests>({ tests: [part, emptyTest()] })])}
                  >
                    {join === 'all' ? 'Or…' : 'And…'}
                  </Button>
                  <RemoveRow rowLabel={label} onClick={() => replace(part.key, [])} />
                </div>
              )}
            </div>
          )
        }
        return (
          <GroupRows
            key={part.key}
            label={label}
            of={of}
            join={other(join)}
            tests={part.tests}
            onChange={(tests) => replace(part.key, [{ ...part, tests }])}
            readOnly={readOnly}
          />
        )
      })}
      {incomplete && (
        <Text size="xs" c="dimmed" role="status">
          Complete each rule to save the condition.
        </Text>
      )}
      {!readOnly && <AddRow onClick={() => change({ join, parts: [...parts, emptyTest()] })}>Add rule</AddRow>}
    </Stack>
  )
}

/** A group of comparisons, joined otherwise than the rows around it. */
function GroupRows(props: {
  label: string
  of: string | undefined
  join: Rule['join']
  tests: Row<Test>[]
  onChange: (tests: Row<Test>[]) => void
  readOnly: boolean
}) {
  const { label, of, join, tests, onChange, readOnly } = props
  return (
    <fieldset className={`${styles.part} ${styles.group}`} aria-label={label}>
      {tests.map((test, nth) => {
        const inner = `${label}, part ${nth + 1}`
        return (
          <div key={test.key} className={styles.inner}>
            {nth > 0 && <span className={styles.join}>{join === 'any' ? 'or' : 'and'}</span>}
            <RuleRow
              label={inner}
              of={of}
              test={test}
              onChange={(next) => onChange(tests.map((one) => (one.key === test.key ? { ...one, ...next } : one)))}
              readOnly={readOnly}
            />
            {!readOnly && (
              <div className={styles.tools}>
                <RemoveRow rowLabel={inner} onClick={() => onChange(tests.filter((one) => one.key !== test.key))} />
              </div>
            )}
          </div>
        )
      })}
      {!readOnly && (
        <AddRow onClick={() => onChange([...tests, emptyTest()])}>{join === 'any' ? 'Or…' : 'And…'}</AddRow>
      )}
    </fieldset>
  )
}

const testsOf = (parts: readonly Part[]) => parts.flatMap((part) => (isGroup(part) ? part.tests : [part]))

function shownOf({ join, parts }: Rule): Shown {
  return {
    join,
    parts: parts.map((part) =>
      isRule(part)
        ? newRow<Tests>({ tests: part.parts.flatMap((test) => (isRule(test) ? [] : [newRow<Test>(test)])) })
        : newRow<Test>(part),
    ),
  }
}

function ruleOf({ join, parts }: Shown): Rule {
  return { join, parts: parts.map((part) => (isGroup(part) ? { join: other(join), parts: part.tests } : part)) }
}
