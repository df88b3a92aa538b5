import { useEffect, useRef, useState } from 'react';
import { Copy } from 'lucide-react';

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Code = (window.repopilotCode ||= function ({ props, callAction, sendUserMessage }) {
  const marked = useRef(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    marked.current?.scrollIntoView({ block: 'center' });
  }, [props.path, props.start]);
  const copy = async () => {
    const lines = props.lines.slice(props.start - props.first, props.end - props.first + 1);
    await navigator.clipboard.writeText(lines.join('\n'));
    setCopied(true);
  };
  return (
    <section className="rp-code">
      <div className="rp-code-head">
        <strong className="rp-place">{props.path}</strong>
        <span className="rp-muted">{props.facts}</span>
        {!props.supported && <span className="rp-warn">⚠ {props.words.unsupported}</span>}
        <button className="rp-button" onClick={copy}><Copy size={13} /> {copied ? props.words.copied : props.words.copy}</button>
      </div>
      <div className="rp-code-scroll" tabIndex={0}>
        <table>
          <tbody>
            {props.lines.map((line, at) => {
              const number = props.first + at;
              const cited = number >= props.start && number <= props.end;
              return (
                <tr key={number} ref={number === props.start ? marked : null} className={cited ? 'rp-cited' : ''}>
                  <td className="rp-line-number">{number}</td>
                  <td><pre>{line || ' '}</pre></td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
});

export default <Code props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
