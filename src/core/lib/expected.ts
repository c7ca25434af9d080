/** What the work answers; `instead` where it rejects with an error that is expected. */
export async function expecting<T>(isExpected: (error: unknown) => boolean, instead: T, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isExpected(error)) return instead;
    throw error;
  }
}
