import { Skeleton } from '@mantine/core'
import styles from './runs.module.css'

export function RowsSkeleton() {
  return (
    <div className={styles.skeletons} aria-hidden>
      {Array.from({ length: 8 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike
        <Skeleton key={index} height={32} radius="sm" />
      ))}
    </div>
  )
}
