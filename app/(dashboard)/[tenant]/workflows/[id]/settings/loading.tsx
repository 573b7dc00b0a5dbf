import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'

export default function Loading() {
  return (
    <>
      <PageHeader title="Settings" />
      <PageBody narrow>
        <Skeleton height={420} radius="md" />
      </PageBody>
    </>
  )
}
