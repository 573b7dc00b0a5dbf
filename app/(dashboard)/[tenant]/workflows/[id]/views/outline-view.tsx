'use client'
import { ActionIcon, Button, Menu } from '@mantine/core'
import {
  ArrowDown,
  CircleAlert,
  CornerDownRight,
  Ellipsis,
  Flag,
  Play,
  Plus,
  RotateCcw,
  TriangleAlert,
} from 'lucide-react'
import { useMemo } from 'react'
import { FAILURE_EXITS } from '@/server/definition/exits'
import type { Definition, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { ScreenActions } from '../actions/use-editor-actions'
import type { StepProblems } from '../draft/use-problems'
import { entryOf, exitsOf, nameOf, START, stepLabel, waysOn } from '../model/definition'
import { type OutlineBranch, type OutlineItem, outlineOf } from '../model/outline'
import { StepIcon } from '../parts/step-icon'
import { RowMarks } from '../presence/row-marks'
import { outlineId } from './outline-id'
import styles from './outline-view.module.css'

export interface OutlineViewProps {
  definition: Definition
  catalog: Catalog
  selection: readonly string[]
  problems: StepProblems
  actions: ScreenActions
  readOnly: boolean
}

/** With more exits than this, the menu leaves the choice to the dialog. */
const MENU_WAYS = 5

/** The workflow as nested lists with every command of the graph, for phones and screen readers. */
export function OutlineView(props: OutlineViewProps) {
  const { definition, catalog, actions, readOnly } = props
  const outline = useMemo(() => outlineOf(definition, catalog), [definition, catalog])
  const fields = Object.keys(definition.payload)
  return (
    <div className={styles.outline}>
      <Button variant="default" size="xs" style={{ justifySelf: 'start' }} onClick={actions.openWorkflow}>
        Name and description
      </Button>
      <div className={styles.end}>
        <Play size={16} aria-hidden />
        <button type="button" id={outlineId(START)} className={styles.step} onClick={() => actions.open(START)}>
          <span className={styles.name}>START</span>
          <span className={styles.type}>{fields.length === 0 ? 'no fields' : fields.join(', ')}</span>
        </button>
      </div>
      <Items items={outline.main} label="Steps" {...props} />
      {!readOnly && definition.steps.length === 0 && (
        <Button
          leftSection={<Plus size={16} aria-hidden />}
          style={{ justifySelf: 'start' }}
          onClick={() => actions.addAt({ after: START, exit: 'next' })}
        >
          Add first step
        </Button>
      )}
      <div className={styles.end}>
        <Flag size={16} aria-hidden />
        <span className={styles.name}>END</span>
      </div>
      {outline.cleanup.length > 0 && (
        <section aria-label="When a run is cancelled">
          <h2 className={styles.heading}>When a run is cancelled</h2>
          <Items items={outline.cleanup} label="Cleanup steps" {...props} />
        </section>
      )}
      {outline.failure.length > 0 && (
        <section aria-label="When a run fails">
          <h2 className={styles.heading}>When a run fails</h2>
          <Items items={outline.failure} label="Steps of the failure path" {...props} />
        </section>
      )}
      {outline.loose.length > 0 && (
        <section aria-label="Not connected">
          <h2 className={styles.heading}>Not connected</h2>
          <Items items={outline.loose} label="Steps that no path leads to" {...props} />
        </section>
      )}
    </div>
  )
}

function Items({ items, label, ...props }: OutlineViewProps & { items: readonly OutlineItem[]; label: string }) {
  return (
    <ol className={styles.list} aria-label={label}>
      {items.map((item) =>
        item.kind === 'step' ? (
          <li key={item.step.id}>
            <Line step={item.step} number={item.number} {...props} />
            {item.branches.map((branch) => (
              <Branch key={branch.exit} step={item.step} branch={branch} {...props} />
            ))}
          </li>
        ) : (
          <li key={item.kind} className={styles.jump}>
            <Continuation item={item} {...props} />
          </li>
        ),
      )}
    </ol>
  )
}

function Branch({ step, branch, ...props }: OutlineViewProps & { step: Step; branch: OutlineBranch }) {
  const failure = FAILURE_EXITS.includes(branch.exit)
  return (
    <div className={`${styles.branch} ${failure ? styles.failure : ''}`}>
      <span className={styles.exit}>{branch.label}</span>
      <Items items={branch.items} label={`${nameOf(step)}, ${branch.label}`} {...props} />
    </div>
  )
}

/** Where a branch without steps of its own continues. */
function Continuation({
  item,
  definition,
  actions,
}: OutlineViewProps & { item: Exclude<OutlineItem, { kind: 'step' }> }) {
  if (item.kind === 'end')
    return (
      <>
        <Flag size={14} aria-hidden /> END
      </>
    )
  if (item.kind === 'below')
    return (
      <>
        <ArrowDown size={14} aria-hidden /> goes on below
      </>
    )
  const Icon = item.kind === 'back' ? RotateCcw : CornerDownRight
  const bound = item.kind === 'back' && item.bound !== null ? `, at most ${times(item.bound)}` : ''
  return (
    <>
      <Icon size={14} aria-hidden />
      <span>
        {item.kind === 'back' ? 'back to ' : 'continues at '}
        <button
          type="button"
          className={styles.link}
          onClick={() => {
            actions.select([item.stepId])
            document.getElementById(outlineId(item.stepId))?.focus()
          }}
        >
          {stepLabel(definition, item.stepId)}
        </button>
        {bound}
      </span>
    </>
  )
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count.toLocaleString('en')} times`
}

function Line({
  step,
  number,
  catalog,
  selection,
  problems,
  ...rest
}: OutlineViewProps & { step: Step; number: number }) {
  const { actions } = rest
  const entry = entryOf(catalog, step.type)
  const { errors = 0, warnings = 0 } = problems.get(step.id) ?? {}
  const chosen = selection.includes(step.id)
  return (
    <div className={`${styles.line} ${chosen ? styles.chosen : ''}`}>
      <span className={styles.number}>{number}</span>
      <span className={styles.icon}>
        <StepIcon name={entry?.icon ?? 'box'} />
      </span>
      <button
        type="button"
        id={outlineId(step.id)}
        className={styles.step}
        aria-current={chosen || undefined}
        onClick={() => actions.open(step.id)}
        onFocus={() => actions.select([step.id])}
      >
        <span className={styles.name}>{nameOf(step)}</span>
        {nameOf(step) !== entry?.title && <span className={styles.type}>{entry?.title ?? step.type}</span>}
      </button>
      <RowMarks stepId={step.id} />
      {errors > 0 && (
        <span className={styles.error}>
          <CircleAlert size={14} aria-hidden /> {errors} {errors === 1 ? 'error' : 'errors'}
        </span>
      )}
      {errors === 0 && warnings > 0 && (
        <span className={styles.warning}>
          <TriangleAlert size={14} aria-hidden /> {warnings} {warnings === 1 ? 'warning' : 'warnings'}
        </span>
      )}
      <LineMenu step={step} catalog={catalog} {...rest} />
    </div>
  )
}

function LineMenu({
  step,
  definition,
  catalog,
  actions,
  readOnly,
}: Omit<OutlineViewProps, 'selection' | 'problems'> & { step: Step }) {
  const exits = exitsOf(definition, catalog, step.id)
  const ways = waysOn(definition, catalog, step.id)
  const name = nameOf(step)
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => actions.open(step.id)}>{readOnly ? 'View' : 'Edit'}</Menu.Item>
        <Menu.Item onClick={() => actions.copy([step.id])}>Copy as JSON</Menu.Item>
        {!readOnly && <Menu.Item onClick={() => actions.tryOut(step.id, 'to')}>Run to here</Menu.Item>}
        {!readOnly && <Menu.Item onClick={() => actions.tryOut(step.id, 'only')}>Run only this step</Menu.Item>}
        {!readOnly && (
          <>
            <Menu.Item onClick={() => actions.openRename(step.id)}>Rename</Menu.Item>
            <Menu.Item onClick={() => actions.duplicate(step.id)}>Duplicate</Menu.Item>
            <Menu.Divider />
            {ways.length > 0 && ways.length <= MENU_WAYS
              ? ways.map(({ id, label }) => (
                  <Menu.Item key={id} onClick={() => actions.addAt({ after: step.id, exit: id })}>
                    {ways.length > 1 ? `Add step after (${label})` : 'Add step after'}
                  </Menu.Item>
                ))
              : ways.length > 0 && <Menu.Item onClick={() => actions.addAfter(step.id)}>Add step after…</Menu.Item>}
            {exits.length > 0 && <Menu.Item onClick={() => actions.openConnect(step.id)}>Connect to…</Menu.Item>}
            {definition.edges.some((edge) => edge.from === step.id) && (
              <Menu.Item onClick={() => actions.openDisconnect(step.id)}>Remove a connection</Menu.Item>
            )}
            <Menu.Divider />
            <Menu.Item onClick={() => actions.remove([step.id])}>Delete</Menu.Item>
            <Menu.Item onClick={() => actions.removeWithGap([step.id])}>Delete and leave a gap</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
