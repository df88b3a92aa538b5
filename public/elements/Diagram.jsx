import { createElement, useEffect, useRef, useState } from 'react';
import { Map as MapIcon, Minus, Plus } from 'lucide-react';

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Diagram = (window.repopilotDiagram ||= function ({ props, callAction }) {
  const { words } = props;
  const [zoom, setZoom] = useState(1);
  const [failed, setFailed] = useState('');
  const subject = useRef(null);
  useEffect(() => { subject.current?.scrollIntoView({ inline: 'center', block: 'nearest' }); }, [props.title]);
  const call = async (name, payload) => {
    const result = await callAction({ name, payload });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
  };
  const texts = [...props.heads.map(([x, head]) => [x, 24, head]), ...props.left_out.map((each) => [each.x + 8, each.y + 14, each.label])];
  const open = ({ path, line }) => call('open_file', { path, line });
  return (
    <section className="rp-code" role="region" aria-label={words.title}>
      <div className="rp-code-head">
        <strong>{props.title}</strong>
        <div className="rp-row rp-tight">
          <button className="rp-button" aria-label={words.smaller} onClick={() => setZoom(Math.max(0.4, zoom / 1.25))}><Minus size={13} /></button>
          <button className="rp-button" aria-label={words.larger} onClick={() => setZoom(Math.min(3, zoom * 1.25))}><Plus size={13} /></button>
          <button className="rp-button" onClick={() => call('show_overview', {})}><MapIcon size={13} /> {words.map}</button>
        </div>
      </div>
      {failed && <div className="rp-error">{failed}</div>}
      <div key={props.title} className="rp-code-scroll" tabIndex={0}>
        {window.repopilotChart(createElement, props, { open, label: props.title, zoom, subject, texts })}
      </div>
    </section>
  );
});

export default <Diagram props={props} callAction={callAction} />;
