'use client'
import { CircleAlert, Play, TriangleAlert } from 'lucide-react'
import { type KeyboardEvent, useMemo, useState } from 'react'
import type { Definition, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { ScreenActions } from '../actions/use-editor-actions'
import type { StepProblems } from '../draft/use-problems'
import { entryOf, nameOf, START } from '../model/definition'
import { flatOutline, outlineOf } from '../model/outline'
import { StepIcon } from '../parts/step-icon'
import { type TestedSteps, testedText } from '../parts/tested'
import { RowMarks } from '../presence/row-marks'
import styles from './list-view.module.css'
import { outlineId } from './outline-id'

export interface ListViewProps {
  definition: Definition
  catalog: Catalog
  selection: readonly string[]
  problems: StepProblems
  tested: TestedSteps | null
  actions: ScreenActions
}

interface Row {
  id: string
  name: string
  /** A note beside its name, if any. */
  aside?: string
  type: string
  icon: string
  state: string
  /** The test run's state, which sets its colour. */
  tested: string | undefined
}

/**
 * All steps, one per line, in a run's order. The list is one Tab stop: arrows, Home and End move in it and select,
 * Enter opens the form.
 */
export function ListView({ definition, catalog, selection, problems, tested, actions }: ListViewProps) {
  const rows = useMemo(() => rowsOf(definition, catalog, tested), [definition, catalog, tested])
  const [focused, setFocused] = useState(START)
  const [only] = selection.length === 1 ? selection : []
  const current = [only, focused].find((id) => rows.some((row) => row.id === id)) ?? START

  function onKeyDown(event: KeyboardEvent) {
    const at = rows.findIndex(({ id }) => id === current)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    const row = to === undefined ? undefined : rows[to]
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if (row) document.getElementById(outlineId(row.id))?.focus()
  }

  return (
    <table className={styles.table} aria-label="Steps" onKeyDown={onKeyDown}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" className={styles.typeCell}>
            Type
          </th>
          <th scope="col">State</th>
          <th scope="col">Problems</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} data-chosen={selection.includes(row.id) || undefined}>
            <td>
              <button
                type="button"
                id={outlineId(row.id)}
                className={styles.step}
                tabIndex={row.id === current ? 0 : -1}
                aria-current={selection.includes(row.id) || undefined}
                onClick={() => actions.open(row.id)}
                onFocus={() => {
                  setFocused(row.id)
                  actions.select([row.id])
                }}
              >
                {row.id === START ? <Play size={14} aria-hidden /> : <StepIcon name={row.icon} size={14} />}
                <span className={styles.name}>{row.name}</span>
              </button>
              {row.aside !== undefined && <span className={styles.quiet}>{row.aside}</span>}
              <RowMarks stepId={row.id} />
            </td>
            <td className={styles.typeCell}>{row.type}</td>
            <td data-tested={row.tested}>{row.state}</td>
            <td>
              <Problems {...(problems.get(row.id) ?? { errors: 0, warnings: 0 })} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Problems({ errors, warnings }: { errors: number; warnings: number }) {
  if (errors > 0)
    return (
      <span className={styles.error}>
        <CircleAlert size={14} aria-hidden /> {errors} {errors === 1 ? 'error' : 'errors'}
      </span>
    )
  if (warnings === 0) return <span className={styles.quiet}>None</span>
  return (
    <span className={styles.warning}>
      <TriangleAlert size={14} aria-hidden /> {warnings} {warnings === 1 ? 'warning' : 'warnings'}
    </span>
  )
}

function rowsOf(definition: Definition, catalog: Catalog, tested: TestedSteps | null): Row[] {
  const { main, cleanup, failure, loose } = outlineOf(definition, catalog)
  const row = (step: Step, standing: string): Row => {
    const entry = entryOf(catalog, step.type)
    const test = tested?.get(step.id)
    return {
      id: step.id,
      name: nameOf(step),
      type: entry?.title ?? step.type,
      icon: entry?.icon ?? 'box',
      state: test ? testedText(test) : tested && standing === 'Connected' ? 'Not reached' : standing,
      tested: test?.state,
    }
  }
  const fields = Object.keys(definition.payload).length
  const start: Row = {
    id: START,
    name: 'START',
    aside: fields === 0 ? 'no fields' : fields === 1 ? '1 field' : `${fields} fields`,
    type: 'Start',
    icon: '',
    state: '',
    tested: undefined,
  }
  return [
    start,
    ...flatOutline(main).map(({ step }) => row(step, 'Connected')),
    ...flatOutline(cleanup).map(({ step }) => row(step, 'When cancelled')),
    ...flatOutline(failure).map(({ step }) => row(step, 'When it fails')),
    ...flatOutline(loose).map(({ step }) => row(step, 'Not connected')),
  ]
}
