export const subject = 'Welcome, {{firstName}}';

// The default is never used: a prop is the variable of its name.
// biome-ignore lint/style/noDefaultExport: React Email takes the default export of a file.
export default function Welcome({ firstName = 'nobody', confirmUrl }) {
  return (
    <html lang="en">
      <body>
        <p>
          Hello {firstName}, your plan is {'{{ plan | default: "free" }}'}.
        </p>
        <a href={confirmUrl}>Confirm</a>
      </body>
    </html>
  );
}
