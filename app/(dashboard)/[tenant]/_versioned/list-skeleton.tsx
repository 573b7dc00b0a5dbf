import { Skeleton } from '@mantine/core'
import styles from './list.module.css'

const ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Rows of the same height as those that come. */
export function ListSkeleton() {
  return (
    <div role="status" aria-label="Loading" className={styles.skeleton}>
      {ROWS.map((row) => (
        <Skeleton key={row} height={44} radius="sm" />
      ))}
    </div>
  )
}
