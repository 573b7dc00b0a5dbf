import { initialsOf } from './initials'
import type { Other } from './others'
import styles from './presence.module.css'

/** The class that sets a person's colour. */
export function colorClass({ color }: Other): string {
  return styles[`c${color}`] ?? ''
}

/** A person's initials in their colour. */
export function Mark({ person }: { person: Other }) {
  return (
    <span className={`${styles.mark} ${colorClass(person)}`} title={person.name}>
      {initialsOf(person.name)}
    </span>
  )
}
