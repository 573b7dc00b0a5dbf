'use client'
import { Mark } from './mark'
import { useOthers } from './others'
import styles from './presence.module.css'

/** In a row of the outline: the initials of those who have its step selected. */
export function RowMarks({ stepId }: { stepId: string }) {
  const people = useOthers().filter((person) => person.stepId === stepId)
  if (people.length === 0) return null
  return (
    <span className={styles.row} aria-hidden>
      {people.map((person) => (
        <Mark key={person.id} person={person} />
      ))}
    </span>
  )
}
