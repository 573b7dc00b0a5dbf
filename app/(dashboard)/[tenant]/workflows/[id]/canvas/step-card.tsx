'use client'
import { CircleAlert, TriangleAlert } from 'lucide-react'
import { type CSSProperties, useContext } from 'react'
import { type PillStatus, StatusMark } from '@/app/_ui/status-pill'
import type { Mark } from '../parts/change-mark'
import { MarkSign } from '../parts/mark-sign'
import { StepIcon } from '../parts/step-icon'
import styles from './step-card.module.css'

/** What a card can show besides the step's name and type. Primitive values only, so that comparing is cheap. */
export type StepShows = {
  /** Its state in a run or a test; `none` if that did not reach it. */
  state?: PillStatus | 'none'
  /** How it differs from another definition; the note says so. */
  mark?: Mark
  /** Its duration or another figure, in a few words. */
  note?: string
  /** Its output in one line, which replaces the type. */
  output?: string
  /** A colour for the figures, and its strength from 0 to 1. */
  heat?: string
  share?: number
  errors?: number
  warnings?: number
}

/** The inside of a step's node: icon, type, name and figures. The same for every graph. */
export function StepCard({ name, type, icon, ...shows }: { name: string; type: string; icon: string } & StepShows) {
  const { state, mark, note = '', output = '', heat, share = 0, errors = 0, warnings = 0 } = shows
  const Sign = useContext(MarkSign)
  const told = state !== undefined || note !== ''
  return (
    <div
      className={styles.card}
      data-state={state}
      data-mark={mark}
      data-heat={heat === undefined ? undefined : true}
      style={heat === undefined ? undefined : ({ '--heat': heat, '--share': share } as CSSProperties)}
    >
      <span className={styles.icon}>
        <StepIcon name={icon} size={18} />
      </span>
      <span className={styles.words}>
        {/* A step may be named after its type. */}
        {output === '' && type !== name && <span className={styles.type}>{type}</span>}
        <span className={styles.name}>{name}</span>
        {told && (
          <span className={styles.told}>
            {state === 'none' ? 'Not reached' : state !== undefined && <StatusMark status={state} />}
            {mark !== undefined && Sign && <Sign mark={mark} />}
            {note !== '' && <span className={styles.note}>{note}</span>}
          </span>
        )}
        {output !== '' && (
          <span className={styles.output} title={output}>
            {output}
          </span>
        )}
      </span>
      <Badge errors={errors} warnings={warnings} />
    </div>
  )
}

function Badge({ errors, warnings }: { errors: number; warnings: number }) {
  if (errors > 0)
    return (
      <span className={`${styles.badge} ${styles.error}`} title={`${errors} ${errors === 1 ? 'error' : 'errors'}`}>
        <CircleAlert size={14} aria-hidden />
        {errors}
      </span>
    )
  if (warnings === 0) return null
  return (
    <span
      className={`${styles.badge} ${styles.warning}`}
      title={`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`}
    >
      <TriangleAlert size={14} aria-hidden />
      {warnings}
    </span>
  )
}
