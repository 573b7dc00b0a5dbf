import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ChangeKind, DefinitionDiff, FieldChange } from '@/server/definition/diff'
import { ChangeMark, MARKS } from './change-mark'
import { changeText } from './change-text'
import styles from './diff-list.module.css'

const META: Record<string, string> = {
  name: 'Name',
  description: 'Description',
  initialStep: 'First step',
  onCancel: 'Cleanup path',
  onFailure: 'Failure path',
  businessKey: 'Business key',
  limits: 'Limits of a run',
}

/** The differences between two definitions: steps, connections, START fields and workflow settings. */
export function DiffList({ diff, nameOf }: { diff: DefinitionDiff; nameOf: (stepId: string) => string }) {
  const { steps, edges, payload, meta, reordered } = diff
  const plain = steps.length + edges.length + payload.length + meta.length === 0
  return (
    <dl className={styles.groups}>
      <Group title="Steps" shown={steps.length > 0}>
        {steps.map(({ kind, stepId, name, fields }) => (
          <Change key={stepId} kind={kind}>
            <span className={styles.name}>{name ?? stepId}</span>
            {name !== null && name !== stepId && <span className={styles.detail}> {stepId}</span>}
            <Fields fields={fields} />
          </Change>
        ))}
      </Group>
      <Group title="Connections" shown={edges.length > 0}>
        {edges.map(({ kind, from, to, exit }) => (
          <Change key={`${kind} ${from} ${exit} ${to}`} kind={kind}>
            <span className={styles.name}>
              {nameOf(from)} → {nameOf(to)}
            </span>
            {exit !== 'next' && <span className={styles.detail}> at {exit}</span>}
          </Change>
        ))}
      </Group>
      <Group title="START" shown={payload.length > 0}>
        {payload.map(({ kind, name, fields, breaking }) => (
          <Change key={name} kind={kind}>
            <span className={styles.name}>{name}</span>
            <Fields fields={fields} />
            {breaking !== null && (
              <span className={styles.breaking}>
                <TriangleAlert size={14} aria-hidden />
                <span>Breaking: {breaking}</span>
              </span>
            )}
          </Change>
        ))}
      </Group>
      <Group title="Workflow" shown={meta.length > 0}>
        {meta.map((field) => (
          <Change key={field.path} kind="changed">
            {META[field.path] ?? field.path}
            <Fields fields={[{ ...field, path: '' }]} />
          </Change>
        ))}
      </Group>
      <Group title="Order" shown={plain && reordered}>
        <Change kind="changed">
          Only the order of steps or fields. Forms show fields in the new order; runs are not affected.
        </Change>
      </Group>
    </dl>
  )
}

function Group({ title, shown, children }: { title: string; shown: boolean; children: ReactNode }) {
  if (!shown) return null
  return (
    <>
      <dt className={styles.group}>{title}</dt>
      <dd style={{ margin: 0 }}>
        <ul className={styles.changes}>{children}</ul>
      </dd>
    </>
  )
}

function Change({ kind, children }: { kind: ChangeKind; children: ReactNode }) {
  return (
    <li className={styles.change}>
      <ChangeMark mark={kind} />
      <div>
        <span className="visually-hidden">{MARKS[kind].word}: </span>
        {children}
      </div>
    </li>
  )
}

const MAX_FIELDS = 6

/** How each field of a step or a field of START differs. */
export function Fields({ fields }: { fields: FieldChange[] }) {
  return (
    <>
      {fields.slice(0, MAX_FIELDS).map((field) => (
        <FieldLine key={field.path} field={field} />
      ))}
      {fields.length > MAX_FIELDS && <div className={styles.detail}>and {fields.length - MAX_FIELDS} more</div>}
    </>
  )
}

function FieldLine({ field: { path, before, after } }: { field: FieldChange }) {
  const texts = changeText(before, after)
  if (!texts.long) {
    return (
      <div className={styles.detail}>
        {path === '' ? '' : `${path}: `}
        {texts.before} → {texts.after}
      </div>
    )
  }
  return (
    <div className={styles.detail}>
      {path !== '' && <div>{path}</div>}
      <div>Before: {texts.before}</div>
      <div>Now: {texts.after}</div>
    </div>
  )
}
